// Reads the heads that are kept elsewhere: from files of signed notes, and from the append blobs of a container.
import { readFile, stat } from 'node:fs/promises';
import { openAppendBlobs } from '../../blobs/append-blobs.ts';
import { type ContainerSettings, openContainer } from '../../blobs/container.ts';
import { notesIn } from '../../core/note-list.ts';

/** Where heads of the trail are kept out of reach of whoever can change the trail. */
export type AnchorPlace =
  | { readonly type: 'file'; readonly path: string }
  | ({ readonly type: 'blob' } & ContainerSettings);

/** One place as it was read. */
export interface AnchorCopy {
  /** Without a secret. */
  readonly place: string;
  readonly notes: readonly string[];
  /** Why it could not be read, or not all of it. */
  readonly fault: string | null;
}

// A note has about 300 bytes: half a million of them, or ten years at one every ten minutes.
const lengthMax = 160 * 1024 * 1024;

export const readAnchor = (place: AnchorPlace, signal: AbortSignal): Promise<AnchorCopy> =>
  place.type === 'file' ? readAnchorFile(place.path, signal) : readAnchorBlobs(place, signal);

async function readAnchorFile(path: string, signal: AbortSignal): Promise<AnchorCopy> {
  try {
    if ((await stat(path)).size > lengthMax) return { place: path, notes: [], fault: 'it is too long' };
    return copyOf(path, await readFile(path, { encoding: 'utf8', signal }));
  } catch (error) {
    signal.throwIfAborted();
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return { place: path, notes: [], fault: faultWords[code] ?? code };
  }
}

const faultWords: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a directory',
};

function copyOf(place: string, text: string): AnchorCopy {
  const notes = notesIn(text);
  const isBlank = text.trim() === '';
  return { place, notes, fault: notes.length === 0 && !isBlank ? 'it holds no signed head' : null };
}

const blobNames = /^[^/]+\/seals-\d{4}-\d{2}(?:-\d+)?\.notes$/;

/** Those of all trails: that an anchor speaks only of another one is worth knowing. */
async function readAnchorBlobs(settings: ContainerSettings, signal: AbortSignal): Promise<AnchorCopy> {
  const blobs = openAppendBlobs(openContainer(settings));
  const { place } = blobs;
  const listed = await blobs.list('', signal);
  if (listed.status === 'failed') return { place, notes: [], fault: listed.reason };
  const notes: string[] = [];
  let left = lengthMax;
  for (const { name } of listed.blobs.filter((blob) => blobNames.test(blob.name))) {
    const read = await blobs.read(name, 0, left, signal);
    if (read.status !== 'read') {
      return { place, notes, fault: read.status === 'failed' ? read.reason : 'a blob is gone' };
    }
    left -= read.bytes.length;
    if (left <= 0) return { place, notes, fault: 'it is too long' };
    for (const note of notesIn(Buffer.from(read.bytes).toString('utf8'))) notes.push(note);
  }
  return { place, notes, fault: null };
}
