// The rest of a sink as a whole: paused because its receiver asked for it, or suspended because it is at fault.
import type { DatabaseSync } from 'node:sqlite';
import type { Verdict } from '../../core/delivery.ts';
import { statement } from '../../sqlite.ts';

/** The state of a sink as a whole. No row means that it is active. */
export interface SinkRest {
  readonly state: 'paused' | 'suspended';
  /** Epoch ms: the end of the pause, or the next probe. */
  readonly until: number;
  readonly reason: string;
  /** Epoch ms until which the receiver itself asked to be left alone, even with urgent records; 0 = it did not. */
  readonly pausedUntil: number;
}

/** What a verdict means for the sink as a whole: it rests, its rest is over, or nothing changes. */
export type RestChange = SinkRest | 'over' | 'unchanged';

/**
 * What a verdict means for the sink as a whole.
 * @param attempted whether the sink was asked: only its own answer can end its rest
 */
export function restChangeOf(verdict: Verdict, attempted: boolean): RestChange {
  if (verdict.state === 'suspended') {
    const { dueAt, reason, pauseUntil = 0 } = verdict;
    return { state: 'suspended', until: dueAt, reason, pausedUntil: pauseUntil };
  }
  if (verdict.state !== 'pending') return attempted ? 'over' : 'unchanged';
  const { pauseUntil, reason } = verdict;
  if (pauseUntil === undefined) return 'unchanged';
  return { state: 'paused', until: pauseUntil, reason, pausedUntil: pauseUntil };
}

/** Whether and how long the sink as a whole rests. */
export function readRest(database: DatabaseSync, sink: string): SinkRest | null {
  const row = statement(database, 'SELECT * FROM sink WHERE name = ?').get(sink);
  if (row === undefined) return null;
  return {
    state: row['state'] as SinkRest['state'],
    until: Number(row['until']),
    reason: String(row['reason']),
    pausedUntil: Number(row['paused_until']),
  };
}

export function writeRest(database: DatabaseSync, sink: string, change: RestChange): void {
  if (change === 'unchanged') return;
  if (change === 'over') statement(database, 'DELETE FROM sink WHERE name = ?').run(sink);
  else {
    const { state, until, reason, pausedUntil } = change;
    const sql =
      'INSERT OR REPLACE INTO sink (name, state, until, reason, paused_until) VALUES (?, ?, ?, ?, ?)';
    statement(database, sql).run(sink, state, until, reason, pausedUntil);
  }
}

/** The sinks that are suspended. */
export const suspendedSinks = (database: DatabaseSync): string[] =>
  statement(database, `SELECT name FROM sink WHERE state = 'suspended'`)
    .all()
    .map(({ name }) => String(name));

/**
 * Whether the sink takes nothing now: its pause is not over, or it is suspended, be it that its next probe is due.
 * @param now epoch ms
 */
export const isResting = (rest: SinkRest | null, now: number): boolean =>
  rest !== null && (rest.state === 'suspended' || rest.until > now);
