// The notice of a wave: how far it has come, which VMs are next, and whose turn it is among the fault domains.
import type { TransitionKind } from '../diff.ts';
import type { Notice, NoticeFact, NoticeTone } from '../notice.ts';
import type { BridgeRecord } from '../record.ts';
import type { WaveState } from '../wave-view.ts';
import { startedByText } from './event-facts.ts';
import { eventNoticeOf } from './event-notice.ts';
import { listFact, missingFacts } from './fleet-facts.ts';
import { impactOf } from './impact.ts';
import { countText, nameList } from './name-list.ts';
import { child, type ReportedRecord, wordsAt } from './reported.ts';
import { itemsOf } from './reported-fleet.ts';
import { type ReportedWave, type ReportedWaveEvent, reportedWave } from './reported-wave.ts';
import { readTime, utcText } from './time-text.ts';
import { factOf, timeFact } from './vm-facts.ts';

/** The notice of a wave record; of a wave with one event alone, the notice of that event. */
export function waveNotice(record: ReportedRecord): Notice {
  const alone = child(record.data, 'alone');
  const data = child(alone, 'data');
  const transition = transitions.find((name) => name === child(data, 'transition'));
  if (transition === undefined)
    return noticeOfMany(reportedWave(child(record.data, 'wave')), record.severity);
  return eventNoticeOf(transition)({
    type: wordsAt(alone, 'type') ?? record.type,
    at: readTime(child(alone, 'time')),
    severity: wordsAt(alone, 'severitytext'),
    correlationId: wordsAt(alone, 'correlationid'),
    data,
  });
}

const transitions: readonly TransitionKind[] = ['scheduled', 'updated', 'started', 'completed', 'canceled'];

const newsMax = 20;

/** What a record has to say that an update of its message would not: names to remember it by. */
export function newsOfRecord(record: BridgeRecord): readonly string[] {
  const wave = child(child(record, 'data'), 'wave');
  if (wave === undefined) return [record.id];
  const news = itemsOf(child(wave, 'news')).filter((name) => typeof name === 'string');
  return news.slice(-newsMax).map((name) => `news ${name}`.slice(0, 100));
}

function noticeOfMany(wave: ReportedWave, severity: string | null): Notice {
  const what = impactOf(wave.eventType, wave.durationSeconds).short;
  const place = placeText(wave);
  return {
    state: wave.state,
    tone: toneOf(wave, severity),
    headline: `${stateTexts[wave.state]}: ${what} on ${place}: ${progressText(wave)}${whenText(wave)}`,
    title: `${stateTexts[wave.state]}: ${place}`,
    what,
    facts: factsOf(wave),
    description: null,
    remarks: remarksOf(wave),
    portalUrl: null,
    eventId: null,
  };
}

const stateTexts: Readonly<Record<WaveState, string>> = {
  scheduled: 'Maintenance scheduled',
  started: 'Maintenance in progress',
  completed: 'Maintenance completed',
  canceled: 'Maintenance canceled',
};

function toneOf({ state }: ReportedWave, severity: string | null): NoticeTone {
  if (state === 'completed') return 'good';
  if (state === 'canceled') return 'quiet';
  if (severity === 'ERROR') return 'alarming';
  return state === 'started' ? 'ongoing' : 'announced';
}

/** Where it is; by the VMs themselves when nothing more is known of them. */
function placeText({ place, vms }: ReportedWave): string {
  if (place !== null) return place;
  return vms.length === 0
    ? 'VMs that Azure did not name'
    : nameList(
        vms.map(({ name }) => name),
        'VMs',
        40,
      );
}

interface Phase {
  readonly state: WaveState;
  readonly title: string;
  /** Such as `4 in progress`. */
  readonly words: string;
}

// In the order in which a person asks for them.
const phases: readonly Phase[] = [
  { state: 'completed', title: 'Done', words: 'done' },
  { state: 'started', title: 'In progress', words: 'in progress' },
  { state: 'scheduled', title: 'To come', words: 'to come' },
  { state: 'canceled', title: 'Called off', words: 'called off' },
];

/** Such as `3 of 12 VMs done, 4 in progress, 5 to come`. */
function progressText({ vms }: ReportedWave): string {
  const counted = phases.map((phase) => ({
    ...phase,
    count: vms.filter(({ state }) => state === phase.state).length,
  }));
  const [first, ...others] = counted.filter(({ count }) => count > 0);
  if (first === undefined) return 'no VM is named';
  const all = countText(vms.length, 'VM');
  const whole = first.count === vms.length;
  const begin = whole ? wholeText(vms.length) : `${first.count} of ${all}`;
  return [`${begin} ${first.words}`, ...others.map(({ count, words }) => `${count} ${words}`)].join(', ');
}

function wholeText(count: number): string {
  if (count === 2) return 'both VMs';
  return count === 1 ? '1 VM' : `all ${count} VMs`;
}

function whenText({ state, nextNotBefore, endedAt, events }: ReportedWave): string {
  if (state === 'completed' || state === 'canceled') {
    const inferred = events.some((event) => event.inferred) ? ' (inferred)' : '';
    return endedAt === null ? '' : `, ${endWords[state]} ${utcText(endedAt)}${inferred}`;
  }
  if (nextNotBefore === null) return '';
  return `, ${state === 'started' ? 'next ' : ''}not before ${utcText(nextNotBefore)}`;
}

const endWords = { completed: 'finished by', canceled: 'gone by' } as const;

function factsOf(wave: ReportedWave): readonly NoticeFact[] {
  const { eventType, durationSeconds, events, missing } = wave;
  const ids = events.flatMap(({ eventId }) => eventId ?? []);
  return [
    ...phases.flatMap((phase) => phaseFact(wave, phase)),
    ...factOf('Fault domains', faultDomainsText(events)),
    ...factOf('Impact', impactOf(eventType, durationSeconds).full),
    ...timeFact('Next not before', wave.nextNotBefore),
    ...timeFact('First announced', wave.firstSeenAt),
    ...timeFact('First started', wave.startedAt),
    ...timeFact(wave.state === 'canceled' ? 'Gone by' : 'Finished by', wave.endedAt),
    ...factOf('Started by', startedByText(wave.eventSource)),
    ...missingFacts(missing),
    ...factOf('Location', wave.location),
    ...factOf('Events', ids.length === 0 ? null : `${ids.length}: ${nameList(ids, 'events', idsLengthMax)}`),
  ];
}

const idsLengthMax = 220;

function phaseFact({ vms }: ReportedWave, { state, title }: Phase): readonly NoticeFact[] {
  const names = vms.filter((vm) => vm.state === state).map(({ name }) => name);
  return names.length === 0 ? [] : listFact(`${title} (${names.length})`, names);
}

/** Such as `FD 0 done, FD 1 in progress`, in the order in which they came; a bare 0 would read as a count. Null without any. */
function faultDomainsText(events: readonly ReportedWaveEvent[]): string | null {
  const found = new Map<string, WaveState>();
  for (const { faultDomains, state } of events)
    for (const name of faultDomains) found.set(name, moreUrgent(found.get(name), state));
  if (found.size === 0) return null;
  const texts = [...found].map(
    ([name, state]) => `FD ${name} ${phases.find((phase) => phase.state === state)?.words}`,
  );
  return nameList(texts, 'fault domains', faultDomainsLengthMax);
}

const faultDomainsLengthMax = 250;
const urgency: readonly WaveState[] = ['started', 'scheduled', 'completed', 'canceled'];

const moreUrgent = (one: WaveState | undefined, other: WaveState): WaveState =>
  one !== undefined && urgency.indexOf(one) <= urgency.indexOf(other) ? one : other;

function remarksOf({ events, eventType, durationSeconds }: ReportedWave): readonly string[] {
  const doubtful = events.filter(({ outcome }) => outcome === 'missed-start').length;
  const inferred = events.filter((event) => event.inferred).length;
  return [
    ...(inferred === 0
      ? []
      : ['Inferred: Azure removes an event that is over, and does not say how it ended.']),
    ...(doubtful === 0
      ? []
      : [`In doubt: nobody saw ${countText(doubtful, 'event')} start, which most likely ran.`]),
    ...(eventType === null || impactOf(eventType, durationSeconds).known
      ? []
      : [`What an event of type ${eventType} does to a VM is not known here.`]),
  ];
}
