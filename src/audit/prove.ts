// Makes the proof that one entry stands in a tree that was signed.
import { type Checkpoint, parseCheckpoint } from '../core/checkpoint.ts';
import { hashBody, leafHash, leafText } from '../core/leaf.ts';
import { openProver } from '../core/proof.ts';
import { openNote, textOfNote, type VerifierKey } from '../core/signed-note.ts';
import { encodeProof } from '../core/tlog-proof.ts';
import type { EntryPlace, SourceStream, StoredEntry, TrailSource } from './store.ts';

/** Which entry of a stream. */
export type EntryChoice = { readonly index: number } | { readonly sequenceNumber: number };

/** What came of it. */
export type Proving =
  | {
      readonly status: 'proven';
      /** The text of a `.tlog-proof` file. */
      readonly proof: string;
      readonly entry: StoredEntry;
      readonly head: Checkpoint;
    }
  | { readonly status: 'no-such-entry' }
  /** No head that covers the entry is signed, or by none of the keys that were asked for. */
  | { readonly status: 'not-signed' }
  /** The bytes of the entry are not those that its hash is of. */
  | { readonly status: 'damaged' }
  /** The entries do not give the root that was signed, or not as many as it says are there. */
  | { readonly status: 'contradicted'; readonly head: Checkpoint };

interface SignedHead {
  readonly head: Checkpoint;
  readonly note: string;
}

/**
 * Proves an entry against the newest signed head that covers it, in one pass over the entries below that head.
 * @param keys the head must be signed by one of them; when there are none, whoever checks the proof sees who signed
 * @throws TrailUnusable, and the signal's reason
 */
export async function proveEntry(
  source: TrailSource,
  { stream, choice, keys }: { stream: string; choice: EntryChoice; keys: readonly VerifierKey[] },
  signal: AbortSignal,
): Promise<Proving> {
  const known = (await source.streams()).find(({ name }) => name === stream);
  if (known === undefined) return { status: 'no-such-entry' };
  const index =
    'index' in choice ? choice.index : await indexOf(source, stream, choice.sequenceNumber, signal);
  if (index === null || index >= known.size) return { status: 'no-such-entry' };
  const signed = await newestHead(source, { ...known, index }, keys);
  if (signed === null) return { status: 'not-signed' };
  const read = await readBelow(source, { stream, index }, signed.head, signal);
  if (!('path' in read)) return read;
  const { entry, path } = read;
  if (entry.body !== null && Buffer.compare(hashBody(entry.body), entry.bodySha256) !== 0) {
    return { status: 'damaged' };
  }
  const extra = Buffer.from(leafText(entry), 'utf8');
  const proof = encodeProof({ extra, index, path, checkpoint: signed.note });
  return { status: 'proven', proof, entry, head: signed.head };
}

/** The entry, and its path in the tree of all entries below a head, when they are what was signed. */
async function readBelow(
  source: TrailSource,
  { stream, index }: EntryPlace,
  head: Checkpoint,
  signal: AbortSignal,
): Promise<{ readonly entry: StoredEntry; readonly path: readonly Uint8Array[] } | Proving> {
  const prover = openProver(head.size, { indexes: [index] });
  let [entry, count]: [StoredEntry | undefined, number] = [undefined, 0];
  for await (const chunk of source.entries(stream)) {
    signal.throwIfAborted();
    prover.take(chunk.map(leafHash));
    entry ??= chunk.find((each) => each.index === index);
    count += chunk.length;
    if (count >= head.size) break;
  }
  if (entry === undefined || count < head.size) return { status: 'contradicted', head };
  const proofs = prover.finish();
  const isSigned = Buffer.compare(proofs.root, head.root) === 0;
  return isSigned ? { entry, path: proofs.inclusion(index) } : { status: 'contradicted', head };
}

async function indexOf(
  source: TrailSource,
  stream: string,
  sequenceNumber: number,
  signal: AbortSignal,
): Promise<number | null> {
  for await (const chunk of source.entries(stream)) {
    signal.throwIfAborted();
    const found = chunk.find((entry) => entry.sequenceNumber >= sequenceNumber);
    if (found !== undefined) return found.sequenceNumber === sequenceNumber ? found.index : null;
  }
  return null;
}

/** The head of the stream itself, else the newest that a seal kept. */
async function newestHead(
  source: TrailSource,
  { name, note, index }: SourceStream & { readonly index: number },
  keys: readonly VerifierKey[],
): Promise<SignedHead | null> {
  const covering = (offered: string): SignedHead | null => {
    const head = headOf(offered, keys);
    return head?.origin === name && head.size > index ? { head, note: offered } : null;
  };
  const now = note === null ? null : covering(note);
  if (now !== null) return now;
  let newest: SignedHead | null = null;
  for await (const pinned of source.notes(name)) {
    for (const each of pinned) newest = covering(each.note) ?? newest;
  }
  return newest;
}

/** Without keys only the form counts. */
function headOf(note: string, keys: readonly VerifierKey[]): Checkpoint | null {
  const opened = openNote(note, keys);
  if (opened.status === 'verified') return parseCheckpoint(opened.text);
  const isOfSomebody = keys.length === 0 && opened.status === 'unknown-keys';
  return isOfSomebody ? parseCheckpoint(textOfNote(note) ?? '') : null;
}
