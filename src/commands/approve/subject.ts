// Finds the event that a person wants to approve, and says why it cannot be approved from here.
import type { DatabaseSync } from 'node:sqlite';
import type { ImdsClient } from '../../agent/imds.ts';
import type { AgentSettings } from '../../agent/settings.ts';
import { type HandRefusal, refusalByHand } from '../../core/approval.ts';
import { eventKey, type ScheduledEvent } from '../../core/document.ts';
import type { Observer } from '../../core/observer.ts';
import { correlationOf } from '../../core/record.ts';
import { isOfAnotherVm } from '../../delivery/outbox/beside.ts';
import { sinksWithout } from '../../delivery/outbox/queue.ts';
import { loadSinkKinds } from '../../sinks/index.ts';
import { complaintOf } from '../complaint.ts';

/** An event that may be approved from here. */
export interface HandSubject {
  readonly event: ScheduledEvent;
  readonly observer: Observer;
  readonly vmName: string;
  /** Data sinks that do not have its records yet. */
  readonly undelivered: readonly string[];
}

export interface SubjectRuntime {
  readonly imds: ImdsClient;
  readonly settings: AgentSettings;
  readonly database: DatabaseSync;
  readonly signal: AbortSignal;
}

/** The event, or why there is none to approve. */
export type FoundSubject = HandSubject | { readonly complaint: string };

// It answers at once, or the name of this VM is not to be had.
const observerTimeoutMs = 10_000;

/** @param wanted the EventId or its beginning, in lower case */
export async function findSubject(wanted: string, runtime: SubjectRuntime): Promise<FoundSubject> {
  const { imds, settings, database, signal } = runtime;
  const poll = await imds.poll(settings.imds.firstTimeout, signal);
  if (poll.status !== 'document') return { complaint: `${settings.imds.endpoint} ${complaintOf(poll)}` };
  const event = chosen(poll.document.events, wanted);
  if ('complaint' in event) return event;
  const observer = await imds
    .observer(AbortSignal.any([signal, AbortSignal.timeout(observerTimeoutMs)]))
    .catch(() => null);
  const vmName = observer?.vmName ?? null;
  if (observer === null || vmName === null) {
    return { complaint: 'instance metadata does not say which VM this is, so nothing is approved from it' };
  }
  if (isOfAnotherVm(database, observer.vmId)) {
    return {
      complaint: 'the outbox here is that of another VM, whose disk this is a copy of: start the agent first',
    };
  }
  const refusal = refusalByHand({ event, notBefore: null, vmName }, Date.now());
  if (refusal !== null) return { complaint: refusals[refusal](event, vmName) };
  const undelivered = sinksWithout(database, correlationOf(event.eventId), await dataSinks(settings));
  return { event, observer, vmName, undelivered };
}

function chosen(
  events: readonly ScheduledEvent[],
  wanted: string,
): ScheduledEvent | { readonly complaint: string } {
  const whole = events.find(({ eventId }) => eventKey(eventId) === wanted);
  const fitting = events.filter(({ eventId }) => eventKey(eventId).startsWith(wanted));
  const event = whole ?? fitting[0];
  if (event === undefined)
    return { complaint: `no event "${wanted}" is announced to this VM; see "seb current"` };
  if (whole === undefined && fitting.length > 1) {
    return {
      complaint: `${fitting.length} events begin with "${wanted}": give more of the one that you mean`,
    };
  }
  return event;
}

const refusals: Readonly<Record<HandRefusal, (event: ScheduledEvent, vmName: string) => string>> = {
  'not-named': ({ eventId }, vmName) =>
    `${eventId} does not name this VM (${vmName}): it is approved from a VM that it names`,
  'not-scheduled': ({ eventId, eventStatus }) =>
    `${eventId} is ${eventStatus}: there is nothing left to approve`,
  due: ({ eventId }) => `${eventId} is due: it starts by itself now`,
  'terminates-others': ({ eventId }) =>
    `${eventId} deletes other VMs as well: from here only the deletion of this VM alone is approved`,
};

/** Those that carry data, not chats: as the agent has them. */
async function dataSinks(settings: AgentSettings): Promise<string[]> {
  const sinks = Object.entries(settings.sinks);
  const { types } = await loadSinkKinds(sinks.map(([, { type }]) => type));
  return sinks.filter(([, { type }]) => !types.get(type)?.policy.supersedes).map(([name]) => name);
}
