// Says whether the agent does its work: what `/healthz` and `/readyz` answer.
import type { SourceState } from '../core/source.ts';
import type { OutboxHealth } from '../delivery/outbox/outbox.ts';
import type { QueueState } from '../delivery/outbox/queue.ts';
import { type SinkStanding, sinkStandings } from '../delivery/sink-standing.ts';
import type { SourceView } from './watch-events.ts';

/** The agent at one moment. */
export interface Standing {
  /** Epoch ms. */
  readonly now: number;
  readonly view: SourceView;
  readonly health: OutboxHealth;
  /** By sink; null while the outbox cannot be read. */
  readonly queues: Readonly<Record<string, QueueState>> | null;
  /** Bytes that count against `outbox.sizeMax`; null while the outbox cannot be read. */
  readonly outboxBytes: number | null;
  readonly outboxBytesMax: number;
}

/** What `/healthz` answers. */
export interface Health {
  readonly healthy: boolean;
  /** By how much the poll loop is behind its own plan. */
  readonly pollLateSeconds: number;
}

/** Why an agent is not ready: events may go unseen, or be lost with the process. */
export type Unreadiness = 'source-stale' | 'outbox-unwritable';

/** What `/readyz` answers. */
export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly Unreadiness[];
  readonly source: {
    readonly state: SourceState;
    readonly detail: string;
    readonly since: string;
    /** Of the last good document of this run; null before the first. */
    readonly documentAgeSeconds: number | null;
  };
  readonly outbox: OutboxHealth;
  /** By sink; null while the outbox cannot be read. */
  readonly sinks: Readonly<Record<string, SinkStanding>> | null;
}

// The loop plans each turn, time-outs and waits that IMDS asks for included: beyond that it is stuck. A machine
// that is overloaded, or was frozen a moment ago, is late by less.
const lateMsMax = 30_000;
// Preempt gives 30 seconds: a source that was blind for twice that long has missed what it is there for.
const documentAgeMsMax = 60_000;
// A source that is polled once a minute is not stale after one bad answer.
const stalePolls = 3;

/** Whether the process and its poll loop live. */
export const healthOf = ({ lateMs }: SourceView): Health => ({
  healthy: lateMs <= lateMsMax,
  pollLateSeconds: seconds(lateMs),
});

/**
 * Whether documents arrive and what they say can be made durable. A sink that is suspended or behind is told but
 * does not count: its queue is safe, and a restart of the agent would mend nothing.
 * @param pollIntervalMs as configured
 */
export function readinessOf(standing: Standing, pollIntervalMs: number): Readiness {
  const { now, view, health, queues } = standing;
  const { state, detail, since } = view.source;
  const isStale = view.documentAgeMs > Math.max(documentAgeMsMax, stalePolls * pollIntervalMs);
  const reasons: Unreadiness[] = [];
  if (isStale && state !== 'warming') reasons.push('source-stale');
  if (health.fault !== null || queues === null) reasons.push('outbox-unwritable');
  const documentAgeSeconds = view.lastDocumentAt === null ? null : seconds(view.documentAgeMs);
  return {
    ready: reasons.length === 0,
    reasons,
    source: { state, detail, since: iso(since), documentAgeSeconds },
    outbox: health,
    sinks: queues === null ? null : sinkStandings(queues, now),
  };
}

const seconds = (ms: number): number => Math.round(ms) / 1000;

const iso = (at: number): string => new Date(at).toISOString();
