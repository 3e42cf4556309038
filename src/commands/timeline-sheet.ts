// A timeline as a sheet for people: a sentence, the figures, the VMs, and the story.
import type { Missing, NamedVm, Timeline } from '../core/timeline.ts';
import type { Approved } from '../core/timeline-approval.ts';
import type { Confidence, Figure } from '../core/timeline-figure.ts';
import { boundsText, type StoryLine, spanText } from '../core/timeline-story.ts';
import type { CommandContext } from './command.ts';
import { writeMoment } from './moment.ts';
import { type Column, printRows, type Tone } from './table.ts';

/** Prints it; in a pipe its tables are tab-separated. */
export async function printSheet(context: CommandContext, timeline: Timeline, zone: string): Promise<void> {
  const moment = (at: number): string => writeMoment(at, zone);
  const print = (text: string): Promise<void> =>
    new Promise((resolve) => context.stdout.write(text, () => resolve()));
  await print(`${plainText(headerOf(timeline))}\n\n`);
  await printRows(context, figureColumns, figureRows(timeline, moment));
  await print('\n');
  if (timeline.vms.length > 0) {
    await printRows(context, vmColumns, timeline.vms);
    await print('\n');
  }
  await printRows(context, storyColumns(moment), timeline.story);
}

/** A text in one line: what comes from outside must not steer the terminal. */
export const plainText = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

const vmsNamedMax = 3;

/** `Freeze of web-0 and web-1, by Platform: ~completed.` */
function headerOf({ eventType, eventSource, vms, outcome, eventId }: Timeline): string {
  const names = vms.map(({ vmName }) => vmName);
  const more = names.length - vmsNamedMax;
  const listed = more > 1 ? [...names.slice(0, vmsNamedMax), `${more} more VMs`] : names;
  const whose = listed.length === 0 ? '' : ` of ${new Intl.ListFormat('en').format(listed)}`;
  const source = eventSource === null ? '' : `, by ${eventSource}`;
  const end = outcome.value === null ? '' : `: ${tilde(outcome.value, outcome.confidence)}`;
  return `${eventType ?? 'Event'}${whose}${source}${end}. ${eventId}`;
}

interface FigureRow {
  readonly name: string;
  readonly text: string;
  readonly confidence: Confidence;
  readonly because: string | null;
}

const uncertain: readonly Confidence[] = ['inferred', 'estimated'];

const tilde = (text: string, confidence: Confidence): string =>
  uncertain.includes(confidence) ? `~${text}` : text;

const tones: Readonly<Partial<Record<Confidence, Tone>>> = { unknown: 'dim' };

const figureColumns: readonly Column<FigureRow>[] = [
  { name: 'figure', value: ({ name }) => name },
  {
    name: 'value',
    value: ({ text }) => text,
    text: ({ text, confidence }) => tilde(text, confidence),
    elastic: 'in-lines',
  },
  { name: 'confidence', value: ({ confidence }) => confidence, tone: ({ confidence }) => tones[confidence] },
  {
    name: 'because',
    value: ({ because }) => because ?? '',
    elastic: 'in-lines',
    tone: ({ because }) => (because === null ? undefined : 'dim'),
  },
];

type Moment = (at: number) => string;

const row = <Value>(
  name: string,
  { value, confidence, because }: Figure<Value>,
  write: (value: Value) => string,
): FigureRow => ({ name, text: value === null ? '-' : write(value), confidence, because });

const inSeconds = (seconds: number): string => spanText(seconds * 1_000);

const figureRows = (timeline: Timeline, moment: Moment): FigureRow[] => [
  ...noticeRows(timeline, moment),
  ...impactRows(timeline, moment),
  ...fleetRows(timeline),
];

function noticeRows(timeline: Timeline, moment: Moment): FigureRow[] {
  return [
    row('first seen', timeline.firstSeen, ({ at, by }) => `${moment(at)}${by === null ? '' : ` by ${by}`}`),
    row('notice offered', timeline.noticeOfferedSeconds, noticeText),
    row('notice effective', timeline.noticeEffectiveSeconds, inSeconds),
    row('notice documented', timeline.noticeMinimumSeconds, inSeconds),
    row('notice shortfall', timeline.noticeShortfallSeconds, (value) =>
      value === 0 ? 'none' : inSeconds(value),
    ),
    row('detection delay', timeline.detectionDelaySeconds, inSeconds),
  ];
}

function impactRows(timeline: Timeline, moment: Moment): FigureRow[] {
  return [
    row('approved', timeline.approved, (approved) => approvedText(approved, moment)),
    row('maintenance window', timeline.window, ({ from, to, seconds }) =>
      seconds === null || to === null
        ? `since ${moment(from)}`
        : `${inSeconds(seconds)} from ${moment(from)}`,
    ),
    row('impact announced', timeline.impactAdvertisedSeconds, inSeconds),
    row(
      'impact measured',
      timeline.impactMeasured,
      ({ lowerMs, upperMs, vms, of }) => `${boundsText(lowerMs, upperMs)} on ${vms} of ${of} VMs`,
    ),
    row('impact ratio', timeline.impactRatio, ({ lower, upper }) =>
      lower === upper ? `${upper} times` : `${lower} to ${upper} times`,
    ),
  ];
}

function fleetRows(timeline: Timeline): FigureRow[] {
  return [
    row('outcome', timeline.outcome, String),
    row('should have seen it', timeline.agentsExpected, String),
    row('saw it', timeline.agentsSaw, String),
    row('missing', timeline.agentsMissing, missingText),
    row('notices', timeline.notified, (notices) =>
      countsText(notices.map(({ sink, outcome }) => `${sink} ${outcome}`)),
    ),
    row('fault domain overlap', timeline.faultDomainOverlap, (overlaps) =>
      overlaps.length === 0
        ? 'none'
        : overlaps.map((each) => `${each.eventId} for ${inSeconds(each.seconds)}`).join(', '),
    ),
    row(
      'serialised run',
      timeline.serialisedRun,
      ({ previous, next }) =>
        [previous === null ? '' : `after ${previous}`, next === null ? '' : `before ${next}`]
          .join(' ')
          .trim() || 'none',
    ),
  ];
}

const noticeText = (seconds: number): string =>
  seconds < 0 ? `none: due ${inSeconds(-seconds)} before` : inSeconds(seconds);

function approvedText({ at, by, via }: Approved, moment: Moment): string {
  return `${via}${by === null ? '' : ` by ${by}`}${at === null ? '' : ` at ${moment(at)}`}`;
}

const missingMax = 8;

function missingText(missing: readonly Missing[]): string {
  if (missing.length === 0) return 'none';
  if (missing.length > missingMax) return countsText(missing.map(({ reason }) => reason));
  return missing.map(({ vmName, agentId, reason }) => `${vmName ?? agentId} (${reason})`).join(', ');
}

/** `3 silent, 1 gone`. */
function countsText(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
}

const vmColumns: readonly Column<NamedVm>[] = [
  { name: 'vm', value: ({ vmName }) => vmName },
  { name: 'fd', value: ({ faultDomain }) => faultDomain },
  {
    name: 'saw',
    heading: 'SAW IT',
    value: ({ saw, reason }) => (saw === null ? `no (${reason ?? ''})` : `by ${saw}`),
  },
  { name: 'endToldBy', heading: 'END TOLD BY', value: ({ endToldBy }) => endToldBy },
  { name: 'impact', elastic: 'in-lines', value: impactText },
];

function impactText({ impact }: NamedVm): string {
  if (impact === null) return '-';
  const { kind, lowerMs, upperMs, temporaryDisk } = impact;
  const bounds = lowerMs === null || upperMs === null ? '' : ` ${boundsText(lowerMs, upperMs)}`;
  return `${kind}${kind === 'none' ? '' : bounds}${temporaryDisk === 'gone' ? ', moved' : ''}`;
}

const storyColumns = (moment: Moment): readonly Column<StoryLine>[] => [
  { name: 'at', heading: 'WHEN', value: ({ at }) => moment(at) },
  { name: 'who', value: ({ who }) => who },
  {
    name: 'text',
    heading: 'WHAT',
    elastic: 'in-lines',
    value: ({ text }) => text,
    text: ({ text, inferred }) => (inferred ? `~${text}` : text),
  },
];
