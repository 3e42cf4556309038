// Gives chosen entries with the proof of each, and the signed heads that the proofs are against.
import { type Checkpoint, parseCheckpoint } from '../../core/checkpoint.ts';
import { leafHash } from '../../core/leaf.ts';
import { textOfNote } from '../../core/signed-note.ts';
import { openWholeTree, type WholeTree } from '../../core/whole-tree.ts';
import type { SourceStream, StoredEntry, TrailSource } from '../store.ts';
import { chooser, type Selection, streamsFor } from './selection.ts';

/** The head that the proofs of one stream lead to. */
export interface ProvenHead extends Omit<Checkpoint, 'origin'> {
  readonly stream: string;
  /** Null when nobody signed it: then whoever believes the proofs believes whoever made them. */
  readonly note: string | null;
}

/** One entry, and the way from its leaf to the root of its stream's head; null behind the last signed head. */
export interface ProvenEntry {
  readonly stream: string;
  readonly entry: StoredEntry;
  readonly path: readonly Uint8Array[] | null;
}

/** What was chosen, compared with what was signed before the first of it is given out. */
export interface ProvenExport {
  readonly status: 'proven';
  readonly count: number;
  readonly heads: readonly ProvenHead[];
  entries(): AsyncGenerator<ProvenEntry>;
}

export type Export =
  | ProvenExport
  /** The streams that hold what was chosen have more than `max` entries: their trees would not fit into memory. */
  | { readonly status: 'too-many'; readonly max: number }
  /** The entries of this stream are not those that were signed, or not all of them are there. */
  | { readonly status: 'contradicted'; readonly stream: string };

interface ProvenStream {
  readonly head: ProvenHead;
  readonly chosen: ReadonlySet<number>;
  readonly tree: WholeTree;
}

/** Their trees take 64 bytes each: 320 MB. */
const entriesMax = 5_000_000;

/** @throws TrailUnusable, and the signal's reason */
export async function proveEntries(
  source: TrailSource,
  selection: Selection,
  signal: AbortSignal,
  max = entriesMax,
): Promise<Export> {
  const proven: ProvenStream[] = [];
  let held = 0;
  for (const stream of await streamsFor(source, selection)) {
    const each = await readStream(source, { stream, selection, max: max - held }, signal);
    if (each === 'too-many') return { status: 'too-many', max };
    if (each === 'contradicted') return { status: 'contradicted', stream: stream.name };
    if (each === null) continue;
    proven.push(each);
    held += each.tree.size;
  }
  const heads = proven.map(({ head }) => head);
  const count = proven.reduce((sum, { chosen }) => sum + chosen.size, 0);
  return { status: 'proven', count, heads, entries: () => giveOut(source, proven, signal) };
}

interface Wanted {
  readonly stream: SourceStream;
  readonly selection: Selection;
  readonly max: number;
}

/** One pass over a stream: what is chosen of it, and its tree; null when nothing is. */
async function readStream(
  source: TrailSource,
  { stream, selection, max }: Wanted,
  signal: AbortSignal,
): Promise<ProvenStream | 'too-many' | 'contradicted' | null> {
  const isChosen = chooser(selection);
  const [tree, chosen] = [openWholeTree(), new Set<number>()];
  let isWhole = true;
  for await (const chunk of source.entries(stream.name)) {
    signal.throwIfAborted();
    for (const entry of chunk) {
      isWhole &&= entry.index === tree.size;
      tree.add(leafHash(entry));
      if (isChosen(entry)) chosen.add(entry.index);
    }
    if (tree.size > max) return 'too-many';
  }
  if (chosen.size === 0) return null;
  const signed = await newestHead(source, stream);
  const size = signed?.size ?? stream.size;
  if (!isWhole || tree.size < size) return 'contradicted';
  const root = tree.root(size);
  if (signed !== null && Buffer.compare(root, signed.root) !== 0) return 'contradicted';
  return { head: { stream: stream.name, size, root, note: signed?.note ?? null }, chosen, tree };
}

/** The newest head that the source has of a stream; it is believed as little as the rest. */
async function newestHead(
  source: TrailSource,
  { name, size, note }: SourceStream,
): Promise<(Checkpoint & { readonly note: string }) | null> {
  let newest = note;
  if (newest === null) {
    for await (const chunk of source.notes(name)) {
      newest = chunk.findLast((pinned) => pinned.size <= size)?.note ?? newest;
    }
  }
  const head = newest === null ? null : parseCheckpoint(textOfNote(newest) ?? '');
  return head === null || newest === null ? null : { ...head, note: newest };
}

async function* giveOut(
  source: TrailSource,
  proven: readonly ProvenStream[],
  signal: AbortSignal,
): AsyncGenerator<ProvenEntry> {
  for (const { head, chosen, tree } of proven) {
    for await (const chunk of source.entries(head.stream)) {
      signal.throwIfAborted();
      for (const entry of chunk) {
        if (!chosen.has(entry.index)) continue;
        const path = entry.index < head.size ? tree.path(entry.index, head.size) : null;
        yield { stream: head.stream, entry, path };
      }
    }
  }
}
