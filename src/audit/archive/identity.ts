// Says in a copy whose it is, and refuses to write into that of another trail.
import { localStreams } from '../../core/stream.ts';
import type { SourceStream } from '../store.ts';
import { type CopyFailure, copyFailed } from './fault.ts';
import type { ArchiveFiles } from './files.ts';
import { identitiesIn, identityLine, identityName } from './layout.ts';
import type { Copying } from './writer.ts';

const identityLengthMax = 1024 * 1024;

/** The ids that the copy was written under, the first one first; none when nothing says it. */
export async function readIdentities(
  files: ArchiveFiles,
  signal: AbortSignal,
): Promise<
  { readonly status: 'known'; readonly ids: readonly string[]; readonly length: number } | CopyFailure
> {
  const read = await files.read(identityName, 0, identityLengthMax, signal);
  if (read.status === 'failed') return copyFailed(read.reason, identityName);
  if (read.status === 'missing') return { status: 'known', ids: [], length: 0 };
  const text = Buffer.from(read.bytes).toString('utf8');
  // A crash while the very first line was written.
  if (!text.includes('\n')) return { status: 'known', ids: [], length: 0 };
  const ids = identitiesIn(text.slice(0, text.lastIndexOf('\n') + 1));
  if (ids === null) return copyFailed('copy-damaged', identityName);
  return { status: 'known', ids, length: text.lastIndexOf('\n') + 1 };
}

/** Writes the trail's id into the copy, where it does not stand there yet. */
export async function claimFiles(
  { files, source, signal }: Copying,
  streams: readonly SourceStream[],
): Promise<{ readonly status: 'claimed' } | CopyFailure> {
  const { trail } = source;
  // Another writer may be as quick; the second look finds what it wrote.
  for (let tries = 0; tries < 3; tries += 1) {
    const known = await readIdentities(files, signal);
    if (known.status === 'failed') return known;
    if (trail === null || known.ids.includes(trail)) return { status: 'claimed' };
    if (known.ids.length > 0 && !isContinued(known.ids, streams))
      return copyFailed('another-trail', identityName);
    const answer = await files.append(identityName, Buffer.from(identityLine(trail)), known.length, signal);
    if (answer.status === 'failed') return copyFailed(answer.reason, identityName);
    if (answer.status === 'appended') return { status: 'claimed' };
  }
  return copyFailed('copy-damaged', identityName);
}

/** A trail that was put back from a copy has another id, and still the streams of the one before. */
function isContinued(ids: readonly string[], streams: readonly SourceStream[]): boolean {
  const names = new Set(streams.map(({ name }) => name));
  return ids.some((id) => names.has(localStreams(id).journal));
}
