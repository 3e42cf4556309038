// A trail as an honest consumer leaves it: signed, sealed, journaled and anchored, on a clock that the test owns.
import type { TrailStore } from '../../src/audit/store.ts';
import { emptyStream, type SignHead, type StreamPosition } from '../../src/audit/store.ts';
import { checkpointText } from '../../src/core/checkpoint.ts';
import type { JournalFact } from '../../src/core/journal.ts';
import type { HubEvent } from '../../src/core/leaf.ts';
import { signerOf } from '../../src/core/note-key.ts';
import { listedNote } from '../../src/core/note-list.ts';
import { type SignerKey, signNote, type VerifierKey } from '../../src/core/signed-note.ts';
import { localStreams, streamName } from '../../src/core/stream.ts';
import { asHubEvents, liveMigration, synthesisAt } from './synthetic.ts';

/** A key that signs, always the same one for a name. */
export const keyNamed = (name: string): SignerKey => signerOf(name, Buffer.alloc(32, name));

export const signWith =
  (...keys: readonly SignerKey[]): SignHead =>
  (origin, tree) =>
    signNote(checkpointText(origin, tree), keys);

/** The stream of a partition. */
export const streamOf = (partition: number): string =>
  streamName({
    namespace: 'ns.servicebus.windows.net',
    hub: 'fleet',
    partition: String(partition),
    hubCreatedAt: synthesisAt - 86_400_000,
  });

/** The clock of the machine that keeps the trail. */
export class TrailClock {
  at = synthesisAt;
  readonly now = (): number => this.at;
}

export interface Keeper {
  readonly store: TrailStore;
  readonly clock: TrailClock;
  /** The key that signs, and the one that checks it. */
  readonly key: SignerKey;
  readonly verifier: VerifierKey;
  /** What the anchors took, as a file keeps it. */
  readonly anchored: string[];
  append(partition: number, events: readonly HubEvent[], facts?: readonly JournalFact[]): Promise<void>;
  journal(...facts: readonly JournalFact[]): Promise<void>;
  /** Seals all heads that changed, 30 s later. */
  seal(): Promise<void>;
  /** Goes on where the trail stands, as a consumer does that is started again. */
  continue(): Promise<void>;
  /** Has the next seal name all heads again, as that of a trail with a new id does. */
  forget(): void;
  /** Brings the head of the seals elsewhere. */
  anchor(): Promise<void>;
}

/** Keeps a trail as the consumer does, step by step. @param store opened with the clock's `now` and a signer */
export function keeperOf(store: TrailStore, clock: TrailClock, key: SignerKey): Keeper {
  const positions = new Map<string, StreamPosition>();
  const sealed = new Map<string, number>();
  const anchored: string[] = [];
  const sealName = async (): Promise<string> => localStreams(must(await store.trail()).trail).seal;
  return {
    ...{ store, clock, key, verifier: key.verifier, anchored },
    append: async (partition, events, facts = []) => {
      const name = streamOf(partition);
      const result = await store.append(name, positions.get(name) ?? emptyStream, events, facts);
      if (result.status !== 'appended') throw new Error(`not appended: ${result.status}`);
      positions.set(name, result.position);
    },
    journal: async (...facts) => void must(await store.journal(facts)),
    seal: async () => {
      clock.at += 30_000;
      const name = await sealName();
      const heads = must(await store.heads()).heads.filter((head) => head.name !== name && head.size > 0);
      const changed = heads.filter((head) => head.size !== sealed.get(head.name));
      const { position } = must(await store.position(name));
      const result = await store.seal(position, changed);
      if (result.status !== 'appended') throw new Error(`not sealed: ${result.status}`);
      for (const head of changed) sealed.set(head.name, head.size);
    },
    continue: async () => {
      for (const head of must(await store.heads()).heads)
        positions.set(head.name, { size: head.size, lastSequenceNumber: head.lastSequenceNumber });
    },
    forget: () => sealed.clear(),
    anchor: async () => {
      const name = await sealName();
      const head = must(await store.heads()).heads.find((each) => each.name === name);
      if (head === undefined || head.note === null) throw new Error('there is nothing to anchor');
      anchored.push(listedNote(head.note));
      await store.journal([{ kind: 'anchored', anchor: 'elsewhere', size: head.size, reference: null }]);
    },
  };
}

const must = <Result extends { readonly status: string }>(
  result: Result,
): Exclude<Result, { readonly status: 'unavailable' }> => {
  if (result.status === 'unavailable') throw new Error('the store is not available');
  return result as Exclude<Result, { readonly status: 'unavailable' }>;
};

/** Records of so many VMs in one partition, numbered on from `first`. */
export const migrations = (partition: number, vms: number, first = 0): HubEvent[] =>
  asHubEvents(
    Array.from({ length: vms }, (_, vm) => liveMigration(partition, partition * 1_000 + first + vm)).flat(),
    first * 3,
  );

/** What a consumer says of itself when it starts. */
export const startFacts = (keys: readonly string[]): JournalFact[] => [
  { kind: 'consumer-started', instance: 'one', version: '1.0.0' },
  ...(keys.length === 0 ? [] : [{ kind: 'keys-changed' as const, keys }]),
];

/** Two partitions with 24 entries each in four batches, five seals and two anchored heads. */
export async function fillHonestly(keeper: Keeper): Promise<void> {
  await keeper.journal(...startFacts([keeper.verifier.text]));
  await keeper.seal();
  for (const first of [0, 2, 4, 6]) {
    await keeper.append(0, migrations(0, 2, first));
    await keeper.append(1, migrations(1, 2, first));
    await keeper.seal();
    if (first === 2 || first === 6) await keeper.anchor();
  }
}
