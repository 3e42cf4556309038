// Puts events into partitions: numbered, written down, and only then shown to readers.
import type { Clock } from '../../clock.ts';
import type { PublishedEvent } from './batch.ts';
import { definitionOf, type Hub } from './hub.ts';
import type { PartitionLog } from './partition-log.ts';
import type { StoreFile } from './store-file.ts';
import type { EventGroup, StoreRecord } from './store-format.ts';

export type AppendResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export interface Journal extends AsyncDisposable {
  append(hub: Hub, log: PartitionLog, published: readonly PublishedEvent[]): Promise<AppendResult>;
}

interface Waiting {
  readonly hub: Hub;
  readonly log: PartitionLog;
  readonly published: readonly PublishedEvent[];
  readonly settle: (result: AppendResult) => void;
}

/** Below this, rewriting the file is not worth the effort. */
const COMPACT_BYTES_MIN = 16 * 1024 * 1024;

/** Events per record when the file is rewritten. */
const COMPACT_EVENTS = 500;

/** A journal that forgets everything at the end. */
export const createMemoryJournal = (clock: Clock): Journal => ({
  async append(_hub, log, published) {
    log.keep(log.number(published, clock.now()));
    return { ok: true };
  },
  async [Symbol.asyncDispose]() {},
});

function* chunks<Item>(items: readonly Item[], size: number): Iterable<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** Everything that is still wanted. */
function* snapshot(hubs: Iterable<Hub>): Iterable<StoreRecord> {
  for (const hub of hubs) {
    yield { kind: 'hub', hub: definitionOf(hub) };
    for (const { id, events } of hub.partitions)
      for (const chunk of chunks(events, COMPACT_EVENTS))
        yield { kind: 'events', groups: [{ hub: hub.name, partition: id, events: chunk }] };
  }
}

interface Numbered extends Waiting {
  readonly group: EventGroup;
}

function number(waiting: Waiting, at: number): Numbered {
  const events = waiting.log.number(waiting.published, at);
  return { ...waiting, group: { hub: waiting.hub.name, partition: waiting.log.id, events } };
}

/** One write and one wait for the disk for all that came while the last one was under way. */
async function commit(store: StoreFile, waiting: readonly Waiting[], at: number): Promise<AppendResult> {
  const numbered = waiting.map((item) => number(item, at));
  try {
    await store.append({ kind: 'events', groups: numbered.map(({ group }) => group) });
  } catch (error) {
    for (const { log } of numbered) log.renumber();
    return { ok: false, reason: (error as NodeJS.ErrnoException).code ?? 'store failed' };
  }
  for (const { log, group } of numbered) log.keep(group.events);
  return { ok: true };
}

/** Rewrites the file when less than half of it is still wanted. @returns from how many bytes on to look again */
async function compact(store: StoreFile, hubs: ReadonlyMap<string, Hub>, bytesMin: number): Promise<number> {
  if (store.bytes < bytesMin) return bytesMin;
  const logs = [...hubs.values()].flatMap(({ partitions }) => partitions);
  const wanted = logs.reduce((sum, { bytes }) => sum + bytes, 0);
  if (wanted * 2 >= store.bytes) return bytesMin;
  try {
    await store.rewrite(snapshot(hubs.values()));
  } catch {
    // The old file is as good as it was: there may be more room later.
  }
  // Much of a file of small events is not theirs: it would look worth rewriting again at once.
  return Math.max(COMPACT_BYTES_MIN, store.bytes * 2);
}

export interface FileJournalOptions {
  readonly store: StoreFile;
  readonly hubs: ReadonlyMap<string, Hub>;
  readonly clock: Clock;
}

/** A journal whose events survive the end of the program, however it comes. */
export function createFileJournal({ store, hubs, clock }: FileJournalOptions): Journal {
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let compactBytesMin = COMPACT_BYTES_MIN;
  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      const taken = waiting;
      waiting = [];
      const result = await commit(store, taken, clock.now());
      for (const { settle } of taken) settle(result);
      compactBytesMin = await compact(store, hubs, compactBytesMin);
    }
    writing = undefined;
  };
  return {
    append(hub, log, published) {
      const { promise, resolve } = Promise.withResolvers<AppendResult>();
      waiting.push({ hub, log, published, settle: resolve });
      writing ??= write();
      return promise;
    },
    async [Symbol.asyncDispose]() {
      await writing;
      await store[Symbol.asyncDispose]();
    },
  };
}
