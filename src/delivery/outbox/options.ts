// What an outbox is opened with, and how it stands.
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { Route } from './draft.ts';
import type { OutboxLimits } from './retention.ts';
import type { StorageFault } from './storage.ts';

export interface OutboxOptions {
  readonly directory: string;
  readonly routes: readonly Route[];
  readonly limits: OutboxLimits;
  readonly clock: Clock;
  readonly log: Log;
  /** Makes in each newly opened file what its owner keeps there beside the queue. */
  readonly prepare?: (database: DatabaseSync) => void;
}

/** How the outbox itself stands. */
export interface OutboxHealth {
  readonly fault: StorageFault | null;
  readonly setAside: string | null;
  /** Deliveries that gave way to the hard cap in this run. */
  readonly discarded: number;
}
