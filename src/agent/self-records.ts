// What the agent says about itself: that it started, and every hour that it still watches.
import { agentRecord } from '../core/record.ts';
import type { Draft } from '../delivery/outbox/draft.ts';
import type { Outbox } from '../delivery/outbox/outbox.ts';
import { version } from '../version.ts';
import type { ObserverSource } from './observer-source.ts';
import type { AgentSettings } from './settings.ts';
import type { SourceView } from './watch-events.ts';

type Facts = Readonly<Record<string, unknown>>;

/** A record about the agent. @param at epoch ms */
export function selfDraft(
  what: 'started' | 'heartbeat',
  at: number,
  facts: Facts,
  observer: ObserverSource,
): Draft {
  return {
    factId: null,
    urgent: false,
    make: (stamp) =>
      agentRecord(what, at, facts, { observer: observer.current(), agent: { version, ...stamp } }),
  };
}

/** What `agent.started` says. @param cause whether the process began, or only took up a changed configuration */
export function startedFacts(
  settings: AgentSettings,
  bootId: string,
  outbox: Outbox,
  cause: 'start' | 'reload',
): Facts {
  const sinks = Object.entries(settings.sinks).map(([name, { type }]) => ({ name, type }));
  return {
    cause,
    apiVersion: settings.imds.apiVersion,
    pollIntervalMs: settings.imds.pollInterval,
    heartbeatIntervalMs: settings.heartbeatInterval,
    nodeVersion: process.version,
    platform: process.platform,
    bootId,
    sinks,
    outbox: outbox.health(),
  };
}

// A document with more events than that has never been seen; a heartbeat stays small whatever comes.
const seenMax = 50;

/**
 * What `agent.heartbeat` says: all that is needed to tell silence from quiet, without the record of the start.
 * @param now epoch ms
 */
export function heartbeatFacts(
  settings: AgentSettings,
  view: SourceView,
  outbox: Outbox,
  now: number,
): Facts {
  const queues = outbox.queues();
  return {
    uptimeSeconds: Math.round(process.uptime()),
    pollIntervalMs: settings.imds.pollInterval,
    heartbeatIntervalMs: settings.heartbeatInterval,
    source: {
      state: view.source.state,
      detail: view.source.detail,
      since: isoOrNull(view.source.since),
      lastDocumentAt: isoOrNull(view.lastDocumentAt),
    },
    document: {
      incarnation: view.incarnation,
      events: view.events,
      seen: view.seen.slice(0, seenMax).map(({ event, firstSeenAt }) => ({
        eventId: event.eventId,
        eventType: event.eventType,
        eventStatus: event.eventStatus,
        firstSeenAt: new Date(firstSeenAt).toISOString(),
      })),
    },
    outbox: outbox.health(),
    sinks: queues.ok
      ? Object.entries(queues.value).map(([name, { pending, dead, oldestPendingAt, rest }]) => ({
          name,
          pending,
          dead,
          oldestPendingSeconds: oldestPendingAt === null ? null : Math.round((now - oldestPendingAt) / 1000),
          rest: rest === null ? null : { state: rest.state, reason: rest.reason },
        }))
      : null,
  };
}

const isoOrNull = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
