// Lives of events that say each thing there is to say, and notices in a form that a person can compare.
import type { Notice, NoticeFact } from '../../src/core/notice.ts';
import { freeze, freezeStarted, type WireEvent } from './documents.ts';
import type { Step } from './story.ts';

const minutes = 60_000;

/** A freeze of one VM, announced; `change` what the test is about. */
export const announced = (change: WireEvent = {}): WireEvent => ({
  ...freeze,
  Resources: ['WestNO_0'],
  ...change,
});

/** The same, once it has begun. */
export const begun = (change: WireEvent = {}): WireEvent => ({
  ...freezeStarted,
  Resources: ['WestNO_0'],
  ...change,
});

const start: Step = { events: [announced()], afterMs: 0 };
const middle: Step = { events: [begun()], afterMs: 15 * minutes + 33_000 };

const after = (afterMs: number, ...events: readonly WireEvent[]): Step => ({
  events,
  afterMs,
  pollGapMs: 1_000,
});

/** What an event can come to, by what its last record says. */
export const lives = {
  scheduled: [start],
  started: [start, middle],
  'completed, as it is gone': [start, middle, after(17_000)],
  'completed, as Azure says': [start, middle, after(17_000, begun({ EventStatus: 'Completed' }))],
  'probably completed': [start, after(16 * minutes)],
  'canceled, as it is gone': [start, after(5 * minutes)],
  'canceled, as Azure says': [start, after(5 * minutes, announced({ EventStatus: 'Canceled' }))],
  'there before the agent': [{ ...start, restart: true }],
  'under way before the agent': [{ events: [begun()], afterMs: 0, restart: true }],
  'under way before the agent, and over': [
    { events: [begun()], afterMs: 0, restart: true },
    after(2 * minutes),
  ],
  updated: [
    start,
    after(5 * minutes, announced({ NotBefore: 'Tue, 10 Nov 2026 22:36:58 GMT', DurationInSeconds: 9 })),
  ],
  'updated while under way': [start, middle, after(minutes, begun({ Resources: ['WestNO_0', '_WestNO_4'] }))],
} as const satisfies Readonly<Record<string, readonly Step[]>>;

/** A notice, line by line. */
export function linesOf(notice: Notice): string[] {
  const { state, tone, headline, title, what, facts, description, remarks, portalUrl, eventId } = notice;
  return [
    `${state}, ${tone}`,
    headline,
    title,
    what,
    ...facts.map(lineOf),
    ...(description === null ? [] : [`"${description}"`]),
    ...remarks.map((remark) => `! ${remark}`),
    ...(portalUrl === null ? [] : [`→ ${portalUrl}`]),
    ...(eventId === null ? [] : [`# ${eventId}`]),
  ];
}

const lineOf = ({ title, value, at, link }: NoticeFact): string =>
  [`${title}: ${value}`, at === undefined ? '' : ` (${at})`, link === undefined ? '' : ' →'].join('');
