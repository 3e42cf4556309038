// Reads what a wave record says, for people: whatever a field holds, nothing throws.
import type { WaveState } from '../wave-view.ts';
import { child, numberAt, wordsAt } from './reported.ts';
import { itemsOf, reportedMissing } from './reported-fleet.ts';
import { readTime } from './time-text.ts';

/** A wave as its record tells of it. Times are epoch ms; what the record does not say is null. */
export interface ReportedWave {
  readonly state: WaveState;
  readonly eventType: string | null;
  readonly eventSource: string | null;
  readonly durationSeconds: number | null;
  /** Such as `scale set WestNO`; null when it is not known. */
  readonly place: string | null;
  readonly location: string | null;
  readonly firstSeenAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly nextNotBefore: number | null;
  readonly vms: readonly ReportedWaveVm[];
  readonly events: readonly ReportedWaveEvent[];
  readonly missing: readonly string[];
}

export interface ReportedWaveVm {
  readonly name: string;
  readonly state: WaveState;
}

export interface ReportedWaveEvent {
  readonly eventId: string | null;
  readonly state: WaveState;
  readonly outcome: string | null;
  readonly inferred: boolean;
  readonly faultDomains: readonly string[];
}

/** Reads `data.wave`. */
export function reportedWave(wave: unknown): ReportedWave {
  const scope = child(wave, 'scope');
  const duration = numberAt(wave, 'durationSeconds');
  return {
    state: stateAt(wave),
    eventType: wordsAt(wave, 'eventType'),
    eventSource: wordsAt(wave, 'eventSource'),
    durationSeconds: duration !== null && duration >= 0 ? duration : null,
    place: placeOf(scope),
    location: wordsAt(scope, 'location'),
    firstSeenAt: readTime(child(wave, 'firstSeenAt')),
    startedAt: readTime(child(wave, 'startedAt')),
    endedAt: readTime(child(wave, 'endedAt')),
    nextNotBefore: readTime(child(wave, 'nextNotBefore')),
    vms: itemsOf(child(wave, 'vms')).flatMap(vmOf),
    events: itemsOf(child(wave, 'events')).map(eventOf),
    missing: reportedMissing(child(wave, 'missing')),
  };
}

const states: readonly WaveState[] = ['started', 'scheduled', 'completed', 'canceled'];

/** What cannot be read is taken for what comes first in the life of an event. */
const stateAt = (value: unknown): WaveState =>
  states.find((state) => state === child(value, 'state')) ?? 'scheduled';

function placeOf(scope: unknown): string | null {
  const named = (what: string, field: string): readonly string[] => {
    const name = wordsAt(scope, field);
    return name === null ? [] : [`${what} ${name}`];
  };
  const [first = null] = [
    ...named('scale set', 'vmScaleSet'),
    ...named('placement group', 'placementGroupId'),
    ...named('resource group', 'resourceGroup'),
    ...named('subscription', 'subscriptionId'),
  ];
  return first;
}

function vmOf(vm: unknown): readonly ReportedWaveVm[] {
  const name = wordsAt(vm, 'name');
  return name === null ? [] : [{ name, state: stateAt(vm) }];
}

const faultDomainsMax = 20;

const eventOf = (event: unknown): ReportedWaveEvent => ({
  eventId: wordsAt(event, 'eventId'),
  state: stateAt(event),
  outcome: wordsAt(event, 'outcome'),
  inferred: child(event, 'inferred') === true,
  faultDomains: itemsOf(child(event, 'faultDomains'))
    .slice(0, faultDomainsMax)
    .flatMap((name, index) => wordsAt([name], '0') ?? [`${index}`]),
});
