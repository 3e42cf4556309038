// The durable queue of the agent: one commit stores the last document, the records and their deliveries, or nothing.
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { BridgeRecord } from '../../core/record.ts';
import type { Watch } from '../../core/watch.ts';
import type { SinkMemory } from '../../sinks/sink.ts';
import { statement, transaction } from '../../sqlite.ts';
import { type Ballast, openBallast } from './ballast.ts';
import type { Draft, Notes } from './draft.ts';
import { enqueue } from './enqueue.ts';
import { GuardedStorage, type Stored } from './guarded-storage.ts';
import { adopt } from './identity.ts';
import { type Next, nextAt, type QueueRules } from './next.ts';
import type { OutboxHealth, OutboxOptions } from './options.ts';
import {
  changeOf,
  type QueueState,
  queueState,
  retireRemovedSinks,
  type Settlement,
  sinksWithout,
  wakeSink,
  wakeSuspendedSinks,
} from './queue.ts';
import { suspendedSinks } from './rest.ts';
import { fullMessage, makeRoom, prune } from './retention.ts';
import { listMeta, putMeta, putNotes, readMeta, type StoredDelivery } from './rows.ts';
import { openSinkMemories, pruneMemories, type SinkMemories } from './sink-memory.ts';
import { usedBytes } from './storage.ts';
import { openUnwritten, type Unwritten } from './unwritten.ts';

export type { OutboxHealth, OutboxOptions } from './options.ts';

/** The name of the file in the state directory. */
export const outboxFile = 'outbox.db';

/** Owns the queue on disk. Faults of the disk are values; what could not be settled yet is kept in memory. */
export class Outbox implements Disposable {
  readonly #options: OutboxOptions;
  readonly #ballast: Ballast;
  readonly #storage: GuardedStorage;
  readonly #unwritten: Unwritten = openUnwritten();
  readonly #memories: SinkMemories;
  /** The memory of the last document is lost, but not that of what was said. */
  #watchLost = false;
  /** Whether the file was opened in this run. */
  #begun = false;
  #discarded = 0;

  constructor(options: OutboxOptions) {
    const { directory, clock, log } = options;
    this.#options = options;
    this.#ballast = openBallast(join(directory, 'ballast'));
    this.#storage = new GuardedStorage({
      path: join(directory, outboxFile),
      ballast: this.#ballast,
      clock,
      log,
      prepare: (database) => transaction(database, () => this.#prepare(database)),
    });
    this.#memories = openSinkMemories(this.#storage, () => clock.now());
  }

  /** What the agent last saw; null when it never saw anything, or lost it. */
  watch(): Stored<Watch | null> {
    return this.#storage.read((database) => {
      const value = readMeta(database, 'watch');
      if (value !== null && value !== 'damaged') return JSON.parse(value) as Watch;
      this.#watchLost = statement(database, 'SELECT 1 FROM said LIMIT 1').get() !== undefined;
      if (this.#watchLost) this.#options.log.error({}, 'what was last seen is lost; what was said is not');
      return null;
    });
  }

  /**
   * Writes down what the agent has seen and what there is to say about it, with one delivery for each sink that
   * takes it: all of it, or nothing.
   * @param notes what else is to be known beyond the end of the process, in the same transaction
   * @returns the records as committed, in order
   */
  commit(watch: Watch | null, drafts: readonly Draft[], notes: Notes = {}): Stored<readonly BridgeRecord[]> {
    this.#flush();
    const { routes, clock } = this.#options;
    return this.#storage.write((database) => {
      if (drafts.length > 0) this.#keepWithinLimits(database, drafts.length);
      const records = transaction(database, () => {
        if (watch !== null) putMeta(database, 'watch', JSON.stringify(watch));
        putNotes(database, notes);
        return enqueue(database, drafts, { routes, now: clock.now(), watchLost: this.#watchLost });
      });
      if (watch !== null) this.#watchLost = false;
      return records;
    });
  }

  /** What the sink's loop should do now. */
  next(sink: string, rules: QueueRules): Next {
    this.#flush();
    const moment = { now: this.#options.clock.now(), unwritten: this.#unwritten };
    const found = this.#storage.read((database) => nextAt(database, sink, rules, moment));
    return found.ok ? found.value : { status: 'wait', until: moment.now + 1_000 };
  }

  /** Writes verdicts down, all at once; while the disk does not take them, they are kept in memory and count as well. */
  settle(settlements: readonly Settlement[]): void {
    const now = this.#options.clock.now();
    this.#unwritten.add(settlements.map((settlement) => changeOf(settlement, now)));
    this.#flush();
  }

  /** Puts off a delivery that was due, and the next probe of its sink if it is suspended. @param until epoch ms */
  postpone(delivery: StoredDelivery, until: number): void {
    const found = this.#storage.read((database) => this.#unwritten.restOf(database, delivery.sink));
    const rest = found.ok && found.value?.state === 'suspended' ? { ...found.value, until } : 'unchanged';
    this.#unwritten.add([{ delivery: { ...delivery, dueAt: until }, rest }]);
    this.#flush();
  }

  /** Ends a sink's rest and makes its head due: what kept it from taking records may be mended. */
  wake(sink: string): void {
    const now = this.#options.clock.now();
    this.#flush();
    this.#storage.write((database) => transaction(database, () => wakeSink(database, sink, now)));
  }

  /** The sinks that are suspended: cheap to ask. None while the file cannot be read. */
  suspended(): readonly string[] {
    const found = this.#storage.read(suspendedSinks);
    return found.ok ? found.value : [];
  }

  /** How each sink's queue stands. */
  queues(): Stored<Readonly<Record<string, QueueState>>> {
    const names = this.#options.routes.map(({ name }) => name);
    return this.#storage.read((database) =>
      Object.fromEntries(names.map((name) => [name, queueState(database, name)])),
    );
  }

  /** A number that changes when another process, such as `seb outbox retry`, has written to the file. */
  version(): number {
    const found = this.#storage.read((database) =>
      Number(statement(database, 'PRAGMA data_version').get()?.['data_version']),
    );
    return found.ok ? found.value : 0;
  }

  /** Forgets what is settled and old, and takes the ballast back when there is room for it. */
  prune(): void {
    const now = this.#options.clock.now();
    const { limits, routes } = this.#options;
    const pruned = this.#storage.write((database) => {
      prune(database, limits, now);
      pruneMemories(
        database,
        routes.map(({ name }) => name),
        now,
      );
    });
    if (pruned.ok) this.#ballast.restore();
  }

  /** Keeps a small fact beyond the end of the process. */
  remember(key: string, value: string): void {
    this.#storage.write((database) => putMeta(database, key, value));
  }

  recall(key: string): string | null {
    const found = this.#storage.read((database) => readMeta(database, key));
    return found.ok && found.value !== 'damaged' ? found.value : null;
  }

  /** What was noted under keys that begin with `prefix`, by key. */
  notes(prefix: string): Stored<ReadonlyMap<string, string>> {
    return this.#storage.read((database) => listMeta(database, prefix));
  }

  /**
   * Which of these sinks do not have every record about an event yet; dead deliveries count as not delivered.
   * @param eventPart what the ids of the event's records begin with: their correlation id
   */
  sinksWithout(eventPart: string, sinks: readonly string[]): Stored<readonly string[]> {
    return this.#storage.read((database) => sinksWithout(database, eventPart, sinks));
  }

  /** Asks the file what only its owner wants to know. @param question only reads */
  ask<Answer>(question: (database: DatabaseSync) => Answer): Stored<Answer> {
    return this.#storage.read(question);
  }

  /** Changes what the owner of the file keeps in it, whole or not at all. */
  change<Result>(work: (database: DatabaseSync) => Result): Stored<Result> {
    return this.#storage.write((database) => transaction(database, () => work(database)));
  }

  /** What one sink has to know beyond the end of the process. */
  memoryOf(sink: string): SinkMemory {
    return this.#memories.of(sink);
  }

  /** Ties the file to this VM; one that was another's begins anew. */
  adopt(vmId: string): void {
    const now = this.#options.clock.now();
    const adopted = this.#storage.write((database) =>
      transaction(database, () => adopt(database, vmId, now)),
    );
    if (!adopted.ok || !adopted.value) return;
    this.#options.log.error(
      { vmId },
      'this outbox came from another VM: what waited in it is dead, and this VM begins anew',
    );
  }

  /** Bytes that count against `sizeMax`. */
  usedBytes(): Stored<number> {
    return this.#storage.read(usedBytes);
  }

  health(): OutboxHealth {
    return { ...this.#storage.health(), discarded: this.#discarded };
  }

  [Symbol.dispose](): void {
    this.#flush();
    this.#storage[Symbol.dispose]();
  }

  #prepare(database: DatabaseSync): void {
    const now = this.#options.clock.now();
    const names = this.#options.routes.map(({ name }) => name);
    this.#options.prepare?.(database);
    retireRemovedSinks(database, names, now);
    if (!this.#begun) wakeSuspendedSinks(database, now);
    this.#begun = true;
  }

  #keepWithinLimits(database: DatabaseSync, drafts: number): void {
    const { limits, routes, log } = this.#options;
    const { dead, pending } = makeRoom(database, limits, { drafts, sinks: routes.length });
    if (dead + pending === 0) return;
    this.#discarded += dead + pending;
    log.error({ dead, pending, sizeMax: limits.sizeMax }, fullMessage);
  }

  /** Writes down what the disk would not take before. */
  #flush(): void {
    this.#memories.flush();
    if (this.#unwritten.some) this.#storage.write((database) => this.#unwritten.write(database));
  }
}
