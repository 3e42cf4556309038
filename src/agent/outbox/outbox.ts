// The durable queue of the agent: one commit stores the last document, the records and their deliveries, or nothing.
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock.ts';
import type { Verdict } from '../../core/delivery.ts';
import { takes } from '../../core/filter.ts';
import { type BridgeRecord, encodeRecord, familyOf, repeatedId } from '../../core/record.ts';
import type { Watch } from '../../core/watch.ts';
import type { Log } from '../../log.ts';
import { type Ballast, openBallast } from './ballast.ts';
import { salvage, setAside } from './damage.ts';
import type { Draft, Route } from './draft.ts';
import { type Identity, putIdentity, readIdentity } from './identity.ts';
import {
  type Next,
  nextDelivery,
  type QueueState,
  queueState,
  retireRemovedSinks,
  settled,
  wakeAllSinks,
  writeSettled,
} from './queue.ts';
import { makeRoom, type OutboxLimits, prune } from './retention.ts';
import { insertRecord, putDelivery, putMeta, readMeta, type StoredDelivery } from './rows.ts';
import { faultOf, openStorage, type StorageFault, statement, transaction } from './storage.ts';

export interface OutboxOptions {
  readonly directory: string;
  readonly routes: readonly Route[];
  readonly limits: OutboxLimits;
  readonly clock: Clock;
  readonly log: Log;
}

/** The result of touching the disk: a value, or why there is none. */
export type Stored<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: StorageFault };

export const outboxFile = 'outbox.db';

// A record and its rows take about its bytes and a half more; this leaves room for the pages they touch.
const rowBytes = 4096;

/** Owns the SQLite file. Faults of the disk are values; the file is opened again when that may help. */
export class Outbox implements Disposable {
  readonly #options: OutboxOptions;
  readonly #path: string;
  readonly #ballast: Ballast;
  /** Verdicts the disk would not take: true all the same, so nothing is sent again because of them. */
  readonly #unwritten = new Map<string, { delivery: StoredDelivery; verdict: Verdict }>();
  #database: DatabaseSync | null = null;
  #identity: Identity | null = null;
  #fault: StorageFault | null = null;
  #watchLost = false;
  #setAside: string | null = null;
  #discarded = 0;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#path = join(options.directory, outboxFile);
    this.#ballast = openBallast(join(options.directory, 'ballast'));
  }

  /** What the agent last saw; null when it never saw anything, or lost it. */
  watch(): Stored<Watch | null> {
    return this.#run((database) => {
      const value = readMeta(database, 'watch');
      if (value !== 'damaged') return value === null ? null : (JSON.parse(value) as Watch);
      this.#watchLost = true;
      this.#options.log.error(
        {},
        'what was last seen cannot be read back; what is announced now counts as new',
      );
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
    return this.#write((database) => {
      if (drafts.length > 0) this.#keepWithinLimits(database, drafts.length);
      const { records, identity } = transaction(database, () => this.#store(database, watch, drafts));
      this.#identity = identity;
      this.#watchLost = false;
      return records;
    });
  }

  /** What the sink's loop should do now. */
  next(sink: string): Next {
    this.#flush();
    const now = this.#options.clock.now();
    const unwritten = (name: string, sequence: number) =>
      this.#unwritten.get(`${name} ${sequence}`)?.delivery;
    const found = this.#run((database) => nextDelivery(database, sink, now, unwritten));
    return found.ok ? found.value : { status: 'wait', until: now + 1_000 };
  }

  /** Writes a verdict down; while the disk does not take it, it is kept in memory and counts as well. */
  settle(delivery: StoredDelivery, verdict: Verdict): void {
    const key = `${delivery.sink} ${delivery.sequence}`;
    this.#unwritten.set(key, { delivery: settled(delivery, verdict, this.#options.clock.now()), verdict });
    this.#flush();
  }

  /** How each sink's queue stands. */
  queues(): Stored<Readonly<Record<string, QueueState>>> {
    return this.#run((database) =>
      Object.fromEntries(this.#options.routes.map(({ name }) => [name, queueState(database, name)])),
    );
  }

  /** A number that changes when another process, such as `seb outbox retry`, has written to the file. */
  version(): number {
    const version = this.#run((database) =>
      Number(statement(database, 'PRAGMA data_version').get()?.['data_version']),
    );
    return version.ok ? version.value : 0;
  }

  /** Forgets what is settled and old, and takes the ballast back when there is room for it. */
  prune(): void {
    this.#write((database) => prune(database, this.#options.limits, this.#options.clock.now()));
    if (this.#fault === null) this.#ballast.restore();
  }

  /** A small fact that is to outlive the process, such as who the observer was. */
  remember(key: 'observer', value: string): void {
    this.#write((database) => putMeta(database, key, value));
  }

  recall(key: 'observer'): string | null {
    const value = this.#run((database) => readMeta(database, key));
    return value.ok && value.value !== 'damaged' ? value.value : null;
  }

  /** What went wrong with the file in this run, for the agent's own records. */
  health(): {
    readonly fault: StorageFault | null;
    readonly setAside: string | null;
    readonly discarded: number;
  } {
    return { fault: this.#fault, setAside: this.#setAside, discarded: this.#discarded };
  }

  [Symbol.dispose](): void {
    this.#flush();
    this.#close();
  }

  #store(database: DatabaseSync, watch: Watch | null, drafts: readonly Draft[]) {
    let identity = this.#identity ?? readIdentity(database);
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
    return { records, identity };
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
    const bytes = drafts * (1 + this.#options.routes.length) * rowBytes;
    const { dead, pending } = makeRoom(database, this.#options.limits, bytes);
    if (dead + pending === 0) return;
    this.#discarded += dead + pending;
    const message =
      'the outbox is full: the oldest deliveries gave way; look at the sinks that do not take theirs';
    this.#options.log.error({ dead, pending, sizeMax: this.#options.limits.sizeMax }, message);
  }

  /** Writes verdicts down that the disk would not take before. */
  #flush(): void {
    if (this.#unwritten.size === 0) return;
    this.#write((database) => {
      transaction(database, () => {
        for (const { delivery, verdict } of this.#unwritten.values())
          writeSettled(database, delivery, verdict);
      });
      this.#unwritten.clear();
    });
  }

  /** Like `#run`; that it went well proves that the disk takes writes. */
  #write<Value>(work: (database: DatabaseSync) => Value): Stored<Value> {
    const result = this.#run(work);
    if (result.ok) this.#report(null);
    return result;
  }

  /** Does the work; gives up the ballast or sets a damaged file aside, and tries once more, when that may help. */
  #run<Value>(work: (database: DatabaseSync) => Value): Stored<Value> {
    const first = this.#attempt(work);
    const result = first.ok || !this.#mend(first.fault) ? first : this.#attempt(work);
    if (!result.ok) this.#report(result.fault);
    return result;
  }

  #attempt<Value>(work: (database: DatabaseSync) => Value): Stored<Value> {
    try {
      return { ok: true, value: work(this.#open()) };
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null) throw error;
      return { ok: false, fault };
    }
  }

  #open(): DatabaseSync {
    if (this.#database !== null) return this.#database;
    const database = openStorage(this.#path);
    this.#database = database;
    const names = this.#options.routes.map(({ name }) => name);
    transaction(database, () => {
      retireRemovedSinks(database, names, this.#options.clock.now());
      wakeAllSinks(database);
    });
    this.#ballast.restore();
    return database;
  }

  /** @returns whether trying again makes sense */
  #mend(fault: StorageFault): boolean {
    if (fault === 'full') return this.#giveUpBallast();
    this.#close();
    return fault === 'unavailable' || this.#replace();
  }

  #giveUpBallast(): boolean {
    if (!this.#ballast.release()) return false;
    this.#options.log.warn({}, 'the disk is full: the ballast was given up so that events still find room');
    return true;
  }

  #replace(): boolean {
    const aside = setAside(this.#path, this.#options.clock.now());
    if (aside === null) return false;
    this.#setAside = aside;
    this.#watchLost = true;
    const saved = this.#attempt((database) => salvage(aside, database));
    const message = 'the outbox was damaged: its bytes are kept aside, and what could be read was taken over';
    this.#options.log.error({ aside, ...(saved.ok ? saved.value : {}) }, message);
    return saved.ok;
  }

  #close(): void {
    try {
      this.#database?.close();
    } catch {
      // A handle that cannot even be closed is of no use to anybody.
    }
    this.#database = null;
  }

  /** Says so once when the disk begins and ends to refuse. */
  #report(fault: StorageFault | null): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    if (fault === null) this.#options.log.info({}, 'the outbox can be written again');
    else this.#options.log.error({ fault, path: this.#path }, faultMessages[fault]);
  }
}

const faultMessages: Readonly<Record<StorageFault, string>> = {
  full: 'the disk is full: what happens is kept in memory until there is room; make room',
  damaged: 'the outbox is damaged and cannot be replaced; what happens is kept in memory',
  unavailable: 'the outbox cannot be used; what happens is kept in memory; look at the state directory',
};
