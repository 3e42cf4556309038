// What a record says to a person, in plain words and in the order in which it is needed; chat sinks give it a form.
import { approvalNotice } from './notice/approval-notice.ts';
import { eventNoticeOf } from './notice/event-notice.ts';
import { hookNotice } from './notice/hook-notice.ts';
import { impactNotice } from './notice/impact-notice.ts';
import { otherNotice, testNotice } from './notice/other-notice.ts';
import { child, type ReportedRecord, wordsAt } from './notice/reported.ts';
import { silenceNotice } from './notice/silence-notice.ts';
import { readTime } from './notice/time-text.ts';
import { waveNotice } from './notice/wave-notice.ts';
import type { BridgeRecord } from './record.ts';

/**
 * How things stand. `deed` is what an agent did about an event, or measured of it; `test` a trial that a person asked
 * for; `other` a record that is not about an event.
 */
export type NoticeState =
  | 'scheduled'
  | 'updated'
  | 'started'
  | 'completed'
  | 'canceled'
  | 'deed'
  | 'test'
  | 'other';

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
  /** A list that is worth more room than other facts have. */
  readonly long?: true;
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
  /** Words that came from elsewhere, Azure's unless `speaker` names another; null when there are none. May be long. */
  readonly description: string | null;
  /** Whose words the description is, such as `The hook`. */
  readonly speaker?: string;
  /** What is inferred, how it was approved, how long it took: sentences to read last. */
  readonly remarks: readonly string[];
  /** The VM in the Azure portal; null while its resource id is not known. */
  readonly portalUrl: string | null;
  /** Null for a record that is not about an event. */
  readonly eventId: string | null;
}

// By the type without its version: what a later version adds is not read, and what it keeps still counts.
const makers: ReadonlyMap<string, (record: ReportedRecord) => Notice> = new Map([
  ['event.scheduled', eventNoticeOf('scheduled')],
  ['event.updated', eventNoticeOf('updated')],
  ['event.started', eventNoticeOf('started')],
  ['event.completed', eventNoticeOf('completed')],
  ['event.canceled', eventNoticeOf('canceled')],
  ['approval', approvalNotice],
  ['hook', hookNotice],
  ['impact', impactNotice],
  ['fleet.wave', waveNotice],
  ['fleet.silence', silenceNotice],
  ['agent.test', testNotice],
]);

const typeParts = /\.scheduled-events-bridge\.([a-z]+(?:\.[a-z]+)?)(?:\.v\d+)?$/;

/**
 * What a record says to a person. Never throws: a record of another version, or one with a part missing, still says
 * what can be read of it.
 * @returns texts on one line each, of bounded length, without control characters; markup is left as it is
 */
export function noticeOf(record: BridgeRecord): Notice {
  const type = wordsAt(record, 'type') ?? 'none';
  const make = makers.get(typeParts.exec(type)?.[1] ?? '') ?? otherNotice;
  return make({
    type,
    at: readTime(child(record, 'time')),
    severity: wordsAt(record, 'severitytext'),
    correlationId: wordsAt(record, 'correlationid'),
    data: child(record, 'data'),
  });
}
