// The durable queue of the agent: one commit stores the last document, the records and their deliveries, or nothing.
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock.ts';
import type { Verdict } from '../../core/delivery.ts';
import { takes } from '../../core/filter.ts';
import { type BridgeRecord, encodeRecord, familyOf, repeatedId } from '../../core/record.ts';
import type { Watch } from '../../core/watch.ts';
import type { Log } from '../../log.ts';
import type { SinkMemory } from '../../sinks/sink.ts';
import { statement, transaction } from '../../sqlite.ts';
import { type Ballast, openBallast } from './ballast.ts';
import type { Draft, Route } from './draft.ts';
import { GuardedStorage, type Stored } from './guarded-storage.ts';
import { adopt, type Identity, putIdentity, readIdentity } from './identity.ts';
import {
  type Next,
  nextDelivery,
  type QueueState,
  queueState,
  retireRemovedSinks,
  settled,
  wakeAllSinks,
  wakeHead,
  writeSettled,
} from './queue.ts';
import { makeRoom, type OutboxLimits, prune } from './retention.ts';
import { insertRecord, putDelivery, putMeta, readMeta, type StoredDelivery } from './rows.ts';
import type { StorageFault } from './storage.ts';

export interface OutboxOptions {
  readonly directory: string;
  readonly routes: readonly Route[];
  readonly limits: OutboxLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** How the outbox itself stands. */
export interface OutboxHealth {
  readonly fault: StorageFault | null;
  readonly setAside: string | null;
  /** Deliveries that gave way to the hard cap in this run. */
  readonly discarded: number;
}

/** The name of the file in the state directory. */
export const outboxFile = 'outbox.db';

// A record and a half, and for each sink a row with its share of three indexes.
const rowBytes = 4096;
// Every tree of the file may need a new page for one commit, and the watch several.
const headroomBytes = 64 * 1024;

/** Owns the queue on disk. Faults of the disk are values; what could not be settled yet is kept in memory. */
export class Outbox implements Disposable {
  readonly #options: OutboxOptions;
  readonly #ballast: Ballast;
  readonly #storage: GuardedStorage;
  /** Verdicts the disk would not take: true all the same, so nothing is sent again because of them. */
  readonly #unwritten = new Map<string, { delivery: StoredDelivery; verdict: Verdict }>();
  /** The memory of the last document is lost, but not that of what was said. */
  #watchLost = false;
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
   * @returns the records as committed, in order
   */
  commit(watch: Watch | null, drafts: readonly Draft[]): Stored<readonly BridgeRecord[]> {
    this.#flush();
    return this.#storage.write((database) => {
      if (drafts.length > 0) this.#keepWithinLimits(database, drafts.length);
      const records = transaction(database, () => this.#store(database, watch, drafts));
      if (watch !== null) this.#watchLost = false;
      return records;
    });
  }

  /** What the sink's loop should do now. */
  next(sink: string): Next {
    this.#flush();
    const now = this.#options.clock.now();
    const unwritten = (name: string, sequence: number) =>
      this.#unwritten.get(`${name} ${sequence}`)?.delivery;
    const found = this.#storage.read((database) => nextDelivery(database, sink, now, unwritten));
    return found.ok ? found.value : { status: 'wait', until: now + 1_000 };
  }

  /** Writes a verdict down; while the disk does not take it, it is kept in memory and counts as well. */
  settle(delivery: StoredDelivery, verdict: Verdict): void {
    const key = `${delivery.sink} ${delivery.sequence}`;
    this.#unwritten.set(key, { delivery: settled(delivery, verdict, this.#options.clock.now()), verdict });
    this.#flush();
  }

  /** Ends a sink's rest and makes its head due: what kept it from taking records may be mended. */
  wake(sink: string): void {
    const now = this.#options.clock.now();
    this.#flush();
    this.#storage.write((database) => transaction(database, () => wakeHead(database, sink, now)));
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
    const pruned = this.#storage.write((database) => prune(database, this.#options.limits, now));
    if (pruned.ok) this.#ballast.restore();
  }

  /** Keeps a small fact beyond the end of the process. */
  remember(key: string, value: string): void {
    this.#storage.write((database) => putMeta(database, key, value));
  }

  /** What one sink has to know beyond the end of the process. */
  memoryOf(sink: string): SinkMemory {
    const keyOf = (key: string) => `sink ${sink} ${key}`;
    return { get: (key) => this.recall(keyOf(key)), set: (key, value) => this.remember(keyOf(key), value) };
  }

  recall(key: string): string | null {
    const found = this.#storage.read((database) => readMeta(database, key));
    return found.ok && found.value !== 'damaged' ? found.value : null;
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

  health(): OutboxHealth {
    return { ...this.#storage.health(), discarded: this.#discarded };
  }

  [Symbol.dispose](): void {
    this.#flush();
    this.#storage[Symbol.dispose]();
  }

  #prepare(database: DatabaseSync): void {
    const names = this.#options.routes.map(({ name }) => name);
    retireRemovedSinks(database, names, this.#options.clock.now());
    wakeAllSinks(database);
  }

  #store(database: DatabaseSync, watch: Watch | null, drafts: readonly Draft[]): readonly BridgeRecord[] {
    let identity: Identity = readIdentity(database);
    const records: BridgeRecord[] = [];
    for (const draft of drafts) {
      const id = this.#idFor(database, draft);
      if (id === null) continue;
      identity = { ...identity, sequence: identity.sequence + 1 };
      const record = draft.make(identity, id);
      this.#enqueue(database, record, identity.sequence, draft.urgent);
      records.push(record);
    }
    putIdentity(database, identity);
    if (watch !== null) putMeta(database, 'watch', JSON.stringify(watch));
    return records;
  }

  /** The id for this time of saying; null when the fact was said before and only the memory of it was lost. */
  #idFor(database: DatabaseSync, { factId }: Draft): string | null {
    if (factId === null) return '';
    const row = statement(database, 'SELECT count FROM said WHERE id = ?').get(factId);
    const count = Number(row?.['count'] ?? 0) + 1;
    if (count > 1 && this.#watchLost) return null;
    const sql = 'INSERT OR REPLACE INTO said VALUES (?, ?, ?)';
    statement(database, sql).run(factId, count, this.#options.clock.now());
    return repeatedId(factId, count);
  }

  #enqueue(database: DatabaseSync, record: BridgeRecord, sequence: number, urgent: boolean): void {
    const now = this.#options.clock.now();
    const family = familyOf(record.type) ?? 'agent';
    const body = encodeRecord(record);
    insertRecord(database, { sequence, id: record.id, family, urgent, committedAt: now, body });
    for (const { name, filter } of this.#options.routes) {
      if (!takes(filter, record)) continue;
      const waiting = { sink: name, sequence, state: 'pending', attempts: 0, dueAt: now } as const;
      putDelivery(database, { ...waiting, reason: null, settledAt: null });
    }
  }

  #keepWithinLimits(database: DatabaseSync, drafts: number): void {
    const { limits, routes, log } = this.#options;
    const { dead, pending } = makeRoom(
      database,
      limits,
      headroomBytes + drafts * (1 + routes.length) * rowBytes,
    );
    if (dead + pending === 0) return;
    this.#discarded += dead + pending;
    const message =
      'the outbox is full: the oldest deliveries gave way; look at the sinks that do not take theirs';
    log.error({ dead, pending, sizeMax: limits.sizeMax }, message);
  }

  /** Writes verdicts down that the disk would not take before. */
  #flush(): void {
    if (this.#unwritten.size === 0) return;
    this.#storage.write((database) => {
      transaction(database, () => {
        for (const { delivery, verdict } of this.#unwritten.values())
          writeSettled(database, delivery, verdict);
      });
      this.#unwritten.clear();
    });
  }
}
