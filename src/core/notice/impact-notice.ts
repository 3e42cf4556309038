// The notice of what a VM felt of an event: how long it was away, between which bounds, and whether it was moved.
import type { ImpactData } from '../deed.ts';
import type { Notice, NoticeFact, NoticeTone } from '../notice.ts';
import { deedNotice, type ReportedDeed, reportedDeed } from './deed-facts.ts';
import { child, numberAt, type ReportedRecord, wordsAt } from './reported.ts';
import { boundsText, lengthText, readTime } from './time-text.ts';
import { factOf, timeFact } from './vm-facts.ts';

interface ReportedImpact {
  readonly deed: ReportedDeed;
  readonly kind: string;
  readonly measured: MeasuredBounds | null;
  readonly advertisedSeconds: number | null;
  /** What tells that the VM runs on another host now; null when nothing does. */
  readonly moved: string | null;
}

interface MeasuredBounds {
  readonly lowerMs: number;
  readonly upperMs: number;
}

/** The notice of an impact record. */
export function impactNotice(record: ReportedRecord): Notice {
  const deed = reportedDeed(record);
  const { data } = deed;
  const impact: ReportedImpact = {
    deed,
    kind: wordsAt(data, 'kind') ?? 'unknown',
    measured: boundsOf(child(data, 'measured')),
    advertisedSeconds: numberAt(data, 'advertisedSeconds'),
    moved: movedText(child(data, 'moved')),
  };
  const stateText = stateOf(impact);
  return deedNotice(deed, {
    tone: toneOf(impact),
    stateText,
    headline: headlineOf(impact, stateText),
    what: stateText,
    facts: factsOf(impact),
    remarks: remarksOf(impact),
  });
}

const known = ['none', 'pause', 'reboot'] as const satisfies readonly ImpactData['kind'][];

const states: Readonly<Record<(typeof known)[number], string>> = {
  none: 'No impact felt',
  pause: 'Paused',
  reboot: 'Rebooted',
};

function stateOf({ kind, measured }: ReportedImpact): string {
  const name = known.find((each) => each === kind);
  if (name === undefined) return 'Impact not known';
  if (name === 'none' || measured === null) return states[name];
  return `${states[name]}${name === 'reboot' ? ', away' : ''} ${boundsText(measured)}`;
}

function toneOf({ kind, measured, advertisedSeconds }: ReportedImpact): NoticeTone {
  if (!known.some((each) => each === kind)) return 'quiet';
  const longer =
    measured !== null && advertisedSeconds !== null && measured.lowerMs > advertisedSeconds * 1_000;
  return longer ? 'announced' : 'good';
}

function headlineOf({ deed, advertisedSeconds, moved }: ReportedImpact, stateText: string): string {
  const announced =
    advertisedSeconds === null || advertisedSeconds < 0
      ? 'how long was not announced'
      : `${lengthText(advertisedSeconds)} were announced`;
  const place = moved === null ? '' : ', moved to another host';
  // The announced length stands once: behind what was measured.
  const type = deed.details.eventType ?? 'an event';
  return `${stateText}: ${deed.vmText} during ${type}${place}; ${announced}`;
}

function factsOf({ deed, measured, advertisedSeconds, moved }: ReportedImpact): readonly NoticeFact[] {
  const { data } = deed;
  const [window, reboot] = [child(data, 'window'), child(data, 'reboot')];
  const at = (parent: unknown, name: string) => readTime(child(parent, name));
  return [
    ...factOf('Measured', measured === null ? null : boundsText(measured)),
    ...factOf(
      'Announced',
      advertisedSeconds === null ? 'No length' : lengthText(Math.max(advertisedSeconds, 0)),
    ),
    ...factOf('Pauses', pausesText(data)),
    ...timeFact('Last seen before', at(reboot, 'lastTickAt')),
    ...timeFact('First seen after', at(reboot, 'firstTickAt')),
    ...factOf('Moved', moved),
    ...timeFact('Watched from', at(window, 'from')),
    ...timeFact('Watched to', at(window, 'to')),
  ];
}

function remarksOf({ kind, measured, deed }: ReportedImpact): readonly (string | null)[] {
  if (kind === 'none') return ['The agent watched throughout, and found no gap longer than its own rhythm.'];
  if (measured !== null) {
    return ['The true length lies between the two bounds, which the agent measured from inside the VM.'];
  }
  return kind === 'reboot'
    ? []
    : [`The agent on ${deed.vmText} was away for another reason, so nobody measured it.`];
}

const pausesShownMax = 5;

/** All of them, where there was more than one. */
function pausesText(data: unknown): string | null {
  const pauses = child(data, 'pauses');
  if (!Array.isArray(pauses) || pauses.length < 2) return null;
  const shown = pauses
    .slice(0, pausesShownMax)
    .map(boundsOf)
    .filter((bounds) => bounds !== null);
  const more = pauses.length - shown.length;
  return [...shown.map(boundsText), ...(more === 0 ? [] : [`${more} more`])].join('; ');
}

/** Null for what no bounds are. */
function boundsOf(value: unknown): MeasuredBounds | null {
  const [lowerMs, upperMs] = [numberAt(value, 'lowerMs'), numberAt(value, 'upperMs')];
  return lowerMs === null || upperMs === null || lowerMs < 0 || upperMs < lowerMs
    ? null
    : { lowerMs, upperMs };
}

function movedText(moved: unknown): string | null {
  const faultDomain = child(moved, 'faultDomain');
  const [before, after] = [wordsAt(faultDomain, 'before'), wordsAt(faultDomain, 'after')];
  const signs = [
    ...(wordsAt(moved, 'temporaryDisk') === 'gone' ? ['its temporary disk is a new one'] : []),
    ...(before !== null && after !== null && before !== after
      ? [`fault domain ${before} became ${after}`]
      : []),
  ];
  return signs.length === 0 ? null : `To another host: ${signs.join(', ')}`;
}
