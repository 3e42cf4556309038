// What the disk would not take yet: true all the same, so that nothing is sent again because of it.
import type { DatabaseSync } from 'node:sqlite';
import { statement, transaction } from '../../sqlite.ts';
import { type RestChange, readRest, type SinkRest, writeRest } from './rest.ts';
import { putDelivery, readDelivery, type StoredDelivery } from './rows.ts';

/** What becomes of a delivery and of its sink. */
export interface Change {
  readonly delivery: StoredDelivery;
  readonly rest: RestChange;
}

/** Changes that wait for the disk, and the outbox as it is with them. */
export interface Unwritten {
  add(changes: readonly Change[]): void;
  /** Whether there is anything to write. */
  readonly some: boolean;
  /** Writes all of it in one transaction, or throws and keeps it. */
  write(database: DatabaseSync): void;
  /** The delivery as it is with what waits; itself when nothing about it waits. */
  latest(stored: StoredDelivery): StoredDelivery;
  /** The rest of a sink as it is with what waits. */
  restOf(database: DatabaseSync, sink: string): SinkRest | null;
}

/**
 * Whose word holds where a person may have spoken while the attempt was under way: `verdict` is the sink's, `try` a
 * person's who wants it tried again, `gone` a person's who let it go. What was delivered was delivered all the same.
 */
function wordOnDisk(database: DatabaseSync, delivery: StoredDelivery): 'verdict' | 'try' | 'gone' {
  const sql = 'SELECT * FROM delivery WHERE sink = ? AND sequence = ?';
  const row = statement(database, sql).get(delivery.sink, delivery.sequence);
  if (row === undefined) return 'gone';
  const now = readDelivery(row);
  if (now.state !== 'pending' && delivery.state !== 'delivered') return 'gone';
  return now.queuedAt !== delivery.queuedAt && delivery.state === 'pending' ? 'try' : 'verdict';
}

const keyOf = ({ sink, sequence }: StoredDelivery): string => `${sink} ${sequence}`;

export function openUnwritten(): Unwritten {
  const deliveries = new Map<string, StoredDelivery>();
  const rests = new Map<string, RestChange>();
  return {
    add(changes) {
      for (const { delivery, rest } of changes) {
        deliveries.set(keyOf(delivery), delivery);
        if (rest !== 'unchanged') rests.set(delivery.sink, rest);
      }
    },
    get some() {
      return deliveries.size > 0;
    },
    write(database) {
      transaction(database, () => {
        const asked = new Set<string>();
        for (const delivery of deliveries.values()) {
          const word = wordOnDisk(database, delivery);
          if (word === 'verdict') putDelivery(database, delivery);
          else if (word === 'try') asked.add(delivery.sink);
        }
        for (const [sink, rest] of rests) if (!asked.has(sink)) writeRest(database, sink, rest);
      });
      deliveries.clear();
      rests.clear();
    },
    latest: (stored) => deliveries.get(keyOf(stored)) ?? stored,
    restOf(database, sink) {
      const change = rests.get(sink) ?? 'unchanged';
      if (change === 'unchanged') return readRest(database, sink);
      return change === 'over' ? null : change;
    },
  };
}
