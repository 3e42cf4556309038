// Keeps signed heads in append blobs, such as in a container whose policy lets nothing be changed but added to.

import { archiveAdvice } from '../../audit/archive/fault.ts';
import { type AppendBlobs, blocksMax, openAppendBlobs } from '../../blobs/append-blobs.ts';
import { type ContainerSettings, openContainer } from '../../blobs/container.ts';
import type { BlobFailure } from '../../blobs/fault.ts';
import { listedNote } from '../../core/note-list.ts';
import type { Anchor, AnchorPut, AnchorRead, AnchorSettings } from './anchor.ts';
import { failedAnchor } from './anchor.ts';
import { newestNote } from './newest-note.ts';

// Each of them is another writer that was quicker.
const triesMax = 10;
// Months back in which the newest head is looked for.
const partsMax = 24;

/** When another blob is begun. */
export interface BlobLimits {
  readonly blocksMax: number;
  /** Epoch ms: a blob is begun with each month, by UTC. */
  readonly now: () => number;
}

export const openBlobAnchor = (settings: AnchorSettings): Anchor =>
  anchorInBlobs(openAppendBlobs(openContainer(settings)), { blocksMax, now: Date.now });

/** An anchor in these blobs. */
export function anchorInBlobs(blobs: AppendBlobs, limits: BlobLimits): Anchor {
  return {
    place: blobs.place,
    put: (origin, note, signal) => put({ blobs, limits, folder: folderOf(origin) }, note, signal),
    newest: (origin, signal) => newest(blobs, origin, signal),
    check: (signal) => check(blobs, signal),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** The trail's own id: what is anchored of one trail lies together. */
const folderOf = (origin: string): string => origin.split('/')[1] ?? origin;

interface Part {
  readonly name: string;
  readonly month: string;
  /** From 1 on. */
  readonly number: number;
  readonly length: number;
}

const nameOf = (folder: string, month: string, number: number): string =>
  `${folder}/seals-${month}${number === 1 ? '' : `-${number}`}.notes`;

/** The blobs of one trail, the oldest first. */
async function partsOf(
  blobs: AppendBlobs,
  folder: string,
  signal: AbortSignal,
): Promise<readonly Part[] | BlobFailure> {
  const listed = await blobs.list(`${folder}/seals-`, signal);
  if (listed.status === 'failed') return listed;
  return listed.blobs
    .flatMap(({ name, length }) => {
      const [, month, number = '1'] = /\/seals-(\d{4}-\d{2})(?:-(\d+))?\.notes$/.exec(name) ?? [];
      return month === undefined ? [] : [{ name, month, number: Number(number), length }];
    })
    .sort((one, other) =>
      one.month === other.month ? one.number - other.number : one.month < other.month ? -1 : 1,
    );
}

/** Adds a note to the blob of this month, or to the next one when that is full. */
async function put(target: Target, note: string, signal: AbortSignal): Promise<AnchorPut> {
  const { blobs, limits, folder } = target;
  const month = new Date(limits.now()).toISOString().slice(0, 7);
  const parts = await partsOf(blobs, folder, signal);
  if ('status' in parts) return failedAnchor(parts.reason);
  const last = parts.findLast((part) => part.month === month);
  let [number, at] = [last?.number ?? 1, last?.length ?? 0];
  const bytes = Buffer.from(listedNote(note), 'utf8');
  for (let tries = 0; tries < triesMax; tries++) {
    const name = nameOf(folder, month, number);
    const result = await appendTo(target, { name, at, bytes }, signal);
    if (result.status === 'anchored' || result.status === 'failed') return result;
    if (result.status === 'full') [number, at] = [number + 1, 0];
    else at = result.length;
  }
  return failedAnchor('contended');
}

interface Target {
  readonly blobs: AppendBlobs;
  readonly limits: BlobLimits;
  readonly folder: string;
}

interface Addition {
  readonly name: string;
  readonly at: number;
  readonly bytes: Buffer;
}

async function appendTo(
  { blobs, limits }: Target,
  { name, at, bytes }: Addition,
  signal: AbortSignal,
): Promise<AnchorPut | { readonly status: 'full' } | { readonly status: 'moved'; readonly length: number }> {
  const extent = at === 0 ? null : await blobs.properties(name, signal);
  if (extent?.status === 'failed') return failedAnchor(extent.reason);
  if (extent?.status === 'known' && extent.blocks >= limits.blocksMax) return { status: 'full' };
  const result = await blobs.append(name, bytes, at, signal);
  if (result.status === 'failed') return failedAnchor(result.reason);
  if (result.status === 'full') return result;
  if (result.status === 'appended') return { status: 'anchored', reference: name };
  // An answer that was lost, or another instance with the same head: what stands at the end tells.
  const from = result.length - bytes.length;
  const end = from < 0 ? null : await blobs.read(name, from, bytes.length, signal);
  const isThere = end?.status === 'read' && bytes.equals(end.bytes);
  return isThere ? { status: 'anchored', reference: name } : result;
}

async function newest(blobs: AppendBlobs, origin: string, signal: AbortSignal): Promise<AnchorRead> {
  const parts = await partsOf(blobs, folderOf(origin), signal);
  if ('status' in parts) return failedAnchor(parts.reason);
  for (const { name, length } of parts.slice(-partsMax).toReversed()) {
    const found = await newestIn(blobs, { name, length, origin }, signal);
    if (found.status === 'failed' || found.note !== null) return found;
  }
  return { status: 'known', note: null };
}

async function newestIn(
  blobs: AppendBlobs,
  { name, length, origin }: { readonly name: string; readonly length: number; readonly origin: string },
  signal: AbortSignal,
): Promise<AnchorRead> {
  let failure: BlobFailure | null = null;
  const read = async (from: number, lengthMax: number): Promise<Uint8Array> => {
    const result = await blobs.read(name, from, lengthMax, signal);
    if (result.status === 'failed') failure = result;
    return result.status === 'read' ? result.bytes : new Uint8Array();
  };
  const note = await newestNote(length, read, origin);
  const fault = failure as BlobFailure | null;
  return fault === null ? { status: 'known', note } : failedAnchor(fault.reason);
}

/** Whether blobs of a container can be listed and added to; leaves nothing behind. */
export const checkContainer = (
  settings: ContainerSettings,
  signal: AbortSignal,
): Promise<{ readonly ok: boolean; readonly detail: string }> =>
  check(openAppendBlobs(openContainer(settings)), signal);

/** Adds to a blob that is not there, behind an end that it does not have: whoever may not write is told so first. */
async function check(blobs: AppendBlobs, signal: AbortSignal) {
  const listed = await blobs.list('seals-', signal);
  const tried =
    listed.status === 'failed' ? listed : await blobs.append('seb-check', Buffer.of(0x0a), 1, signal);
  return tried.status === 'failed'
    ? { ok: false, detail: `${blobs.place}: ${tried.reason}; ${archiveAdvice[tried.reason]}` }
    : { ok: true, detail: `${blobs.place} can be listed and added to; nothing was written` };
}
