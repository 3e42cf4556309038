// What a record says to a person, in plain words and in the order in which it is needed; chat sinks give it a form.
import type { TransitionKind } from './diff.ts';
import { eventFacts } from './notice/event-facts.ts';
import { headlineOf, stateText, vmsText, whatOf } from './notice/event-headline.ts';
import { eventRemarks } from './notice/event-remarks.ts';
import { otherNotice, testNotice } from './notice/other-notice.ts';
import { portalUrlOf } from './notice/portal.ts';
import { child, type ReportedEvent, reportedEvent, reportedEventId, wordsAt } from './notice/reported.ts';
import { readTime } from './notice/time-text.ts';
import type { BridgeRecord } from './record.ts';

/** How things stand. `test` is a trial that a person asked for; `other` a record that is not about an event. */
export type NoticeState = 'scheduled' | 'updated' | 'started' | 'completed' | 'canceled' | 'test' | 'other';

/** What the colour says; the words say it too. */
export type NoticeTone = 'announced' | 'alarming' | 'ongoing' | 'good' | 'quiet';

/** One line under the headline. All texts are plain and unescaped, and may come from outside. */
export interface NoticeFact {
  /** Such as `Not before` or `Started by`. */
  readonly title: string;
  /** Times in UTC, such as `2026-11-10 22:26:58 UTC`. */
  readonly value: string;
  /** Epoch ms, for a fact that is a time: a chat can show it in each reader's own zone. */
  readonly at?: number;
  /** Where the fact's value leads, such as the VM in the portal. */
  readonly link?: string;
}

/** A message, before it is given the form of one chat. Every text is plain and unescaped. */
export interface Notice {
  readonly state: NoticeState;
  readonly tone: NoticeTone;
  /** State first; stands alone, as on a phone. */
  readonly headline: string;
  /** State and VM only, for a title. */
  readonly title: string;
  /** What it is about, without state, VM and time: such as `Freeze (about 5 s)`. */
  readonly what: string;
  readonly facts: readonly NoticeFact[];
  /** Azure's own words; null when there are none. May be long. */
  readonly description: string | null;
  /** What is inferred, how it was approved, how long it took: sentences to read last. */
  readonly remarks: readonly string[];
  /** The VM in the Azure portal; null while its resource id is not known. */
  readonly portalUrl: string | null;
  /** Null for a record that is not about an event. */
  readonly eventId: string | null;
}

// Of any version: what a later one adds is not read, and what it keeps still counts.
const typeParts = /\.scheduled-events-bridge\.(event|agent)\.([a-z]+)(?:\.v\d+)?$/;

const transitions: readonly TransitionKind[] = ['scheduled', 'updated', 'started', 'completed', 'canceled'];

/**
 * What a record says to a person. Never throws: a record of another version, or one with a part missing, still says
 * what can be read of it.
 * @returns texts on one line each, of bounded length, without control characters; markup is left as it is
 */
export function noticeOf(record: BridgeRecord): Notice {
  const type = wordsAt(record, 'type') ?? 'none';
  const [data, at] = [child(record, 'data'), readTime(child(record, 'time'))];
  const [, family, what] = typeParts.exec(type) ?? [];
  const transition = family === 'event' ? transitions.find((name) => name === what) : undefined;
  if (transition !== undefined) {
    const eventId = reportedEventId(data) ?? wordsAt(record, 'correlationid');
    return eventNotice(reportedEvent(transition, data, at), eventId, wordsAt(record, 'severitytext'));
  }
  return family === 'agent' && what === 'test'
    ? testNotice({ type, at, data })
    : otherNotice({ type, at, data });
}

function eventNotice(event: ReportedEvent, eventId: string | null, severity: string | null): Notice {
  return {
    state: event.transition,
    tone: toneOf(event, severity),
    headline: headlineOf(event),
    title: `${stateText(event)}: ${vmsText(event)}`,
    what: whatOf(event),
    facts: eventFacts(event),
    description: event.details.description,
    remarks: eventRemarks(event),
    // The link is the observer's: it must not pass for that of a VM which it only heard of.
    portalUrl: event.affected === true ? portalUrlOf(event.vm.resourceId) : null,
    eventId,
  };
}

function toneOf({ transition }: ReportedEvent, severity: string | null): NoticeTone {
  if (transition === 'completed') return 'good';
  if (transition === 'canceled') return 'quiet';
  if (severity === 'ERROR') return 'alarming';
  return transition === 'started' ? 'ongoing' : 'announced';
}
