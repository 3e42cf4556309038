// Keeps the outbox file usable: opens it when needed, and answers a full disk, damage and refusal with what helps.
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Ballast } from './ballast.ts';
import { salvage, setAside } from './damage.ts';
import { UnknownSchema } from './schema.ts';
import { faultOf, openStorage, type StorageFault } from './storage.ts';

/** The result of touching the disk: a value, or why there is none. */
export type Stored<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: StorageFault };

export interface GuardedStorageOptions {
  readonly path: string;
  readonly ballast: Ballast;
  readonly clock: Clock;
  readonly log: Log;
  /** Runs on every newly opened file, before any other work. */
  readonly prepare: (database: DatabaseSync) => void;
}

/** Owns the handle. Work given to it may run twice: what it does must be one transaction or a read. */
export class GuardedStorage implements Disposable {
  readonly #options: GuardedStorageOptions;
  #database: DatabaseSync | null = null;
  #fault: StorageFault | null = null;
  #setAside: string | null = null;
  /** Whether the last fault was that a newer program wrote the file. */
  #isNewer = false;

  constructor(options: GuardedStorageOptions) {
    this.#options = options;
  }

  /** Runs work that only reads. */
  read<Value>(work: (database: DatabaseSync) => Value): Stored<Value> {
    const first = this.#attempt(work);
    const result = first.ok || !this.#mend(first.fault) ? first : this.#attempt(work);
    if (!result.ok) this.#report(result.fault);
    return result;
  }

  /** Runs work that writes: that it went well proves that the disk takes writes. */
  write<Value>(work: (database: DatabaseSync) => Value): Stored<Value> {
    const result = this.read(work);
    if (result.ok) this.#report(null);
    return result;
  }

  /** What is wrong with the file now, and where a damaged one was put in this run. */
  health(): { readonly fault: StorageFault | null; readonly setAside: string | null } {
    return { fault: this.#fault, setAside: this.#setAside };
  }

  [Symbol.dispose](): void {
    try {
      this.#database?.close();
    } catch {
      // A handle that cannot even be closed is of no use to anybody.
    }
    this.#database = null;
  }

  #attempt<Value>(work: (database: DatabaseSync) => Value): Stored<Value> {
    try {
      return { ok: true, value: work(this.#open()) };
    } catch (error) {
      const fault = faultOf(error);
      if (fault === null) throw error;
      this.#isNewer = error instanceof UnknownSchema;
      return { ok: false, fault };
    }
  }

  #open(): DatabaseSync {
    if (this.#database !== null) return this.#database;
    const database = openStorage(this.#options.path);
    this.#database = database;
    this.#options.prepare(database);
    this.#options.ballast.restore();
    return database;
  }

  /** @returns whether trying again makes sense */
  #mend(fault: StorageFault): boolean {
    if (fault === 'full') return this.#giveUpBallast();
    this[Symbol.dispose]();
    return fault === 'unavailable' || this.#replace();
  }

  #giveUpBallast(): boolean {
    if (!this.#options.ballast.release()) return false;
    this.#options.log.warn({}, 'the disk is full: the ballast was given up so that events still find room');
    return true;
  }

  #replace(): boolean {
    const aside = setAside(this.#options.path, this.#options.clock.now());
    if (aside === null) return false;
    this.#setAside = aside;
    const saved = this.#attempt((database) => salvage(aside, database));
    const message = 'the outbox was damaged: its bytes are kept aside, and what could be read was taken over';
    this.#options.log.error({ aside, ...(saved.ok ? saved.value : {}) }, message);
    return saved.ok;
  }

  /** Says so once when the disk begins and ends to refuse. */
  #report(fault: StorageFault | null): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    const { log, path } = this.#options;
    if (fault === null) log.info({}, 'the outbox can be written again');
    else log.error({ fault, path }, this.#isNewer ? newerMessage : faultMessages[fault]);
  }
}

const newerMessage =
  'the outbox was written by a newer version of the agent: it is left alone, what happens is kept in memory, and nothing is delivered; run that version, or set the outbox aside';

const faultMessages: Readonly<Record<StorageFault, string>> = {
  full: 'the disk is full: what happens is kept in memory until there is room; make room',
  damaged:
    'the outbox is damaged and cannot be replaced: what happens is kept in memory; look at the state directory',
  unavailable: 'the outbox cannot be used: what happens is kept in memory; look at the state directory',
};
