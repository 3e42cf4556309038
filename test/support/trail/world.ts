// What a test of trails needs of a store, whichever it is, and the steps that such tests share.
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'vitest';
import type {
  AppendResult,
  StoredEntry,
  StreamHead,
  StreamPosition,
  TrailOptions,
  TrailReader,
  TrailSource,
  TrailStore,
} from '../../../src/audit/store.ts';
import { checkpointText } from '../../../src/core/checkpoint.ts';
import { type JournalEntry, type JournalFact, journalEntryOf } from '../../../src/core/journal.ts';
import { type HubEvent, leafHash } from '../../../src/core/leaf.ts';
import { signerOf } from '../../../src/core/note-key.ts';
import { signNote } from '../../../src/core/signed-note.ts';
import { localStreams } from '../../../src/core/stream.ts';
import { emptyTree, growTree, type Tree } from '../../../src/core/tree.ts';

/** One trail that is empty at first, opened as often as a test likes; its owner takes it away afterwards. */
export interface TrailWorld extends AsyncDisposable {
  /** One more instance on the same trail; the test closes it. */
  open(options?: TrailOptions): Promise<TrailStore>;
  source(): Promise<TrailSource>;
  reader(): Promise<TrailReader>;
  /** Runs SQL past everything that keeps the log from being changed, in the tables' names and columns of `schema.ts`. */
  tamper(...statements: readonly string[]): Promise<void>;
}

export type OpenWorld = () => Promise<TrailWorld>;

/** Streams of two partitions, and of the first one's next epoch. */
export const stream = 'ns/hub/0/20261110T000000000Z';
export const other = 'ns/hub/1/20261110T000000000Z';
export const later = 'ns/hub/0/20261111T000000000Z';

const { privateKey } = generateKeyPairSync('ed25519');
const { d: seed = '' } = privateKey.export({ format: 'jwk' });
/** A key that is there for this run of the tests only. */
export const signer = signerOf('trail.example', Buffer.from(seed, 'base64url'));
/** Signs heads with it; the same tree gets the same note, since Ed25519 knows no chance. */
export const sign = (origin: string, tree: Tree): string => signNote(checkpointText(origin, tree), [signer]);

/** A result, when it is the one that a test goes on with. */
export function expectStatus<Result extends { readonly status: string }, Status extends Result['status']>(
  result: Result,
  status: Status,
): Extract<Result, { readonly status: Status }> {
  expect(result).toMatchObject({ status });
  return result as Extract<Result, { readonly status: Status }>;
}

export const positionIn = async (trail: TrailStore, name = stream): Promise<StreamPosition> =>
  expectStatus(await trail.position(name), 'known').position;

/** Appends behind whatever stands there. */
export async function append(
  trail: TrailStore,
  events: readonly HubEvent[],
  into = stream,
  facts: readonly JournalFact[] = [],
): Promise<AppendResult> {
  return await trail.append(into, await positionIn(trail, into), events, facts);
}

export const headsOf = async (trail: TrailStore): Promise<readonly StreamHead[]> =>
  expectStatus(await trail.heads(), 'known').heads;

export async function headOf(trail: TrailStore, name: string): Promise<StreamHead> {
  const head = (await headsOf(trail)).find((each) => each.name === name);
  if (head === undefined) throw new Error(`there is no stream ${name}`);
  return head;
}

/** The names of the streams that a trail writes of itself. */
export const ownStreams = async (trail: TrailStore) => localStreams(await idOf(trail));

export async function entriesOf(world: TrailWorld, name: string, from?: number): Promise<StoredEntry[]> {
  await using source = await world.source();
  const entries: StoredEntry[] = [];
  for await (const chunk of source.entries(name, from)) entries.push(...chunk);
  return entries;
}

/** The facts of the journal, in order. */
export async function journalOf(world: TrailWorld, trail: TrailStore): Promise<JournalEntry[]> {
  const entries = await entriesOf(world, (await ownStreams(trail)).journal);
  return entries.map(({ body, enqueuedMs }) => {
    const entry = body === null ? null : journalEntryOf({ body, enqueuedMs });
    if (entry === null) throw new Error('the journal holds something that is no fact');
    return entry;
  });
}

/** A value with its bytes in hex: stores hand out bytes as one class or another. */
export function inHex(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(inHex);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inHex(each)]));
}

/** The id in the names of a trail's own streams. */
export const idOf = async (trail: TrailStore): Promise<string> =>
  expectStatus(await trail.trail(), 'known').trail;

/** What an instance writes down when it finds that a copy was put back. */
export const restoredFrom = (earlier: string) =>
  ({ kind: 'restored', anchor: 'file', earlier, anchoredSize: 3, anchoredRoot: 'AAAA' }) as const;

/** The tree over entries, made from nothing but them. */
export const treeOver = (entries: readonly StoredEntry[]): Tree => growTree(emptyTree, entries.map(leafHash));

/** What a check says of a trail of which nothing was pruned or changed. */
export const clean = (entries: number) => ({
  ...{ status: 'checked', entries, pruned: 0 },
  ...{ different: [], damaged: [] },
});
