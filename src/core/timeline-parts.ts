// What a trail knows of one event and of what lay around it: all that its timeline is made of.
import type { DeedState } from './deed-fold.ts';
import type { TransitionKind } from './diff.ts';
import { canonicalName } from './document.ts';
import type { EventSummary } from './event-fold.ts';
import { type JournalEntry, journalEntryOf } from './journal.ts';
import type { FinalEvent, KnownAgent } from './silence.ts';

/** An event and the VMs it names. */
export interface TimelineEvent extends EventSummary {
  readonly eventId: string;
  readonly vms: readonly string[];
}

/** One agent told one fact of the event. */
export interface Telling {
  readonly factId: string;
  readonly transition: TransitionKind;
  readonly agentId: string;
  /** Epoch ms by the agent's clock. */
  readonly at: number;
}

/** When one agent was heard of around the event, whatever it said: epoch ms by its clock, null when it was not. */
export interface Hearing {
  readonly agentId: string;
  /** Last, up to when the event was first seen. */
  readonly before: number | null;
  /** First and last while the event went on. */
  readonly first: number | null;
  readonly last: number | null;
}

/** A deed and whose it is. */
export type AgentDeed = DeedState & { readonly agentId: string };

/** The way of one notice to one sink, as the journal tells how it ended. */
export type NotifiedFact = Extract<JournalEntry, { readonly kind: 'notified' }>;

export interface TimelineParts {
  readonly event: TimelineEvent;
  readonly tellings: readonly Telling[];
  readonly deeds: readonly AgentDeed[];
  /** All agents of the trail. */
  readonly agents: readonly KnownAgent[];
  /** Who was heard of from a day before the event on until its end. */
  readonly heard: readonly Hearing[];
  /** Events of the hours around it, whoever they name. */
  readonly others: readonly TimelineEvent[];
  readonly notices: readonly NotifiedFact[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** How much of the time around an event belongs to its story, ms. */
export const around = { heardMs: dayMs, othersMs: hourMs } as const;
/** How many events of the hours around are looked at. */
export const othersMax = 1_000;

/** Between which times who was heard of is asked, epoch ms. */
export const heardBetween = ({
  firstSeenAt,
  endedAt,
}: EventSummary): { readonly from: number; readonly until: number } => ({
  from: firstSeenAt - around.heardMs,
  until: endedAt ?? Number.MAX_SAFE_INTEGER,
});

/** Between which times other events belong to the story of this one, epoch ms. */
export const othersBetween = ({
  firstSeenAt,
  endedAt,
}: EventSummary): { readonly from: number; readonly until: number } => ({
  from: firstSeenAt - around.othersMs,
  until: endedAt === null ? Number.MAX_SAFE_INTEGER : endedAt + around.othersMs,
});

/** The event as one that ends its VMs, with when it took or takes effect; null when nothing says when. */
export function finalEventOf({ vms, ...event }: TimelineEvent): FinalEvent | null {
  const due = event.notBefore === null ? Number.NaN : Date.parse(event.notBefore);
  const at = event.endedAt ?? event.startedAt ?? due;
  if (event.outcome === 'canceled' || Number.isNaN(at)) return null;
  return { vmKeys: vms.map(canonicalName), firstAt: event.firstSeenAt, at };
}

/** How a notice's way ended, when that is what an entry of a journal says. */
export function notifiedIn(body: Uint8Array, enqueuedMs: number): NotifiedFact[] {
  const fact = journalEntryOf({ body, enqueuedMs });
  return fact?.kind === 'notified' ? [fact] : [];
}
