// How each sink stands, as a status page says it: whether it rests, and what waits for it.
import type { QueueState } from './outbox/queue.ts';
import { isResting, type SinkRest } from './outbox/rest.ts';

/** How one sink stands. */
export interface SinkStanding {
  readonly state: 'active' | 'paused' | 'suspended';
  /** Why it rests; null while it is active. */
  readonly reason: string | null;
  /** When it is tried again; null while it is active. */
  readonly until: string | null;
  readonly pending: number;
  readonly dead: number;
  /** Age of the oldest record that is not delivered; null when there is none. */
  readonly oldestPendingSeconds: number | null;
}

/** How the sinks stand, by name. @param now epoch ms */
export const sinkStandings = (
  queues: Readonly<Record<string, QueueState>>,
  now: number,
): Readonly<Record<string, SinkStanding>> =>
  Object.fromEntries(Object.entries(queues).map(([name, queue]) => [name, sinkStanding(queue, now)]));

function sinkStanding({ pending, dead, oldestPendingAt, rest }: QueueState, now: number): SinkStanding {
  const resting = restNow(rest, now);
  const oldestPendingSeconds = oldestPendingAt === null ? null : seconds(Math.max(now - oldestPendingAt, 0));
  return {
    state: resting?.state ?? 'active',
    reason: resting?.reason ?? null,
    until: resting === null ? null : iso(resting.until),
    pending,
    dead,
    oldestPendingSeconds,
  };
}

/** A pause ends by the clock; a suspension only when an attempt went well. @param now epoch ms */
export const restNow = (rest: SinkRest | null, now: number): SinkRest | null =>
  isResting(rest, now) ? rest : null;

const seconds = (ms: number): number => Math.round(ms) / 1000;

const iso = (at: number): string => new Date(at).toISOString();
