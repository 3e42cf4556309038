// Facts of a fleet as a consumer would have them: a rolling maintenance over the fault domains of one scale set.
import type { TransitionKind } from '../../src/core/diff.ts';
import type { ScheduledEvent } from '../../src/core/document.ts';
import type { FleetFact, FleetVm, Speaker } from '../../src/core/fleet-fact.ts';
import { fleetRecord, silenceRecord, waveRecord } from '../../src/core/fleet-record.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { foldWave, type Wave } from '../../src/core/wave.ts';
import { freeze, observerOf, saying, synthesisAt } from './synthetic.ts';

const minutes = 60_000;

export const fleetSpeaker = (sequence = 1): Speaker => ({
  source: 'urn:uuid:7d6ff1a5-0c6c-4f27-8b9a-3a3f6f2f4c11',
  agent: { version: '1.0.0', instanceId: '7d6ff1a5-0c6c-4f27-8b9a-3a3f6f2f4c11', sequence },
});

const subscription = '/subscriptions/11111111-2222-3333-4444-555555555555';

/** A VM of the scale set `web`, in one of its five fault domains; `change` what the test is about. */
export function fleetVm(number: number, change: Partial<FleetVm> = {}): FleetVm {
  const { vmId, zone, faultDomain, vmScaleSet, placementGroupId } = observerOf(number);
  const resourceId = `${subscription}/resourceGroups/rg-web/providers/Microsoft.Compute/virtualMachineScaleSets/web/virtualMachines/${number}`;
  const where = { location: 'norwaywest', zone, faultDomain, vmScaleSet, placementGroupId };
  return { name: `web-${number}`, vmId, resourceId, ...where, ...change };
}

export interface FleetSaying {
  readonly kind: TransitionKind;
  /** Which of the events; its VMs are those of this number unless told otherwise. */
  readonly event?: number;
  /** Minutes after the beginning. */
  readonly after?: number;
  readonly vms?: readonly FleetVm[];
  readonly change?: Partial<ScheduledEvent>;
  readonly more?: Partial<Pick<FleetFact, 'observers' | 'missing'>>;
}

/** The three VMs of a fault domain of a set of fifteen. */
export const domainOf = (event: number): readonly FleetVm[] =>
  [0, 5, 10].map((offset) => fleetVm((event % 5) + offset));

/** A fact as the fleet knows it. */
export function fleetFact({ kind, event = 0, after = 0, ...rest }: FleetSaying): FleetFact {
  const vms = rest.vms ?? domainOf(event);
  const status = kind === 'scheduled' || kind === 'updated' || kind === 'canceled' ? 'Scheduled' : 'Started';
  const notBefore = new Date(synthesisAt + (15 + 20 * event) * minutes).toISOString().replace('.000', '');
  const names = vms.map(({ name }) => name);
  const change = { resources: names, eventStatus: status, notBefore, ...rest.change };
  const reason = kind === 'canceled' ? 'removed-before-not-before' : 'removed-after-started';
  const ended = kind === 'completed' || kind === 'canceled';
  const record = saying({
    ...{ event: freeze(event, change), kind, vm: event, after: after * minutes },
    ...(ended ? { reason } : {}),
  });
  return { record, vms, observers: 15, ...rest.more };
}

/** Folds facts in this order, from nothing, with a clock that is a second behind each. */
export function folded(facts: readonly FleetFact[], before: readonly Wave[] = []): readonly Wave[] {
  return facts.reduce<readonly Wave[]>((waves, fact) => foldWave(waves, fact, soonAfter(fact)).waves, before);
}

export const soonAfter = ({ record }: Pick<FleetFact, 'record'>): number => Date.parse(record.time) + 1_000;

/** The life of one event: announced, begun a quarter of an hour later, over after three minutes. */
export const lifeOf = (event: number, from = 20 * event, more: Partial<FleetSaying> = {}): FleetFact[] => [
  fleetFact({ kind: 'scheduled', event, after: from, ...more }),
  fleetFact({ kind: 'started', event, after: from + 15, ...more }),
  fleetFact({ kind: 'completed', event, after: from + 18, ...more }),
];

/** Five fault domains, one after another: each is announced two minutes after the one before ended. */
export const rollingFacts = (): FleetFact[] => [0, 1, 2, 3, 4].flatMap((event) => lifeOf(event));

/** The only wave there is. */
export function onlyWave(waves: readonly Wave[]): Wave {
  const [wave, ...others] = waves;
  if (wave === undefined || others.length > 0) throw new Error(`${waves.length} waves instead of one`);
  return wave;
}

/** One record of each kind that a consumer says of the whole fleet. */
export function sampleFleetRecords(): readonly BridgeRecord[] {
  const missing = [{ name: 'web-10', reason: 'silent' }];
  const fact = fleetFact({ kind: 'started', more: { missing } });
  const since = fact.record.time;
  const vms = [{ name: 'web-1', vmId: null, since, expectedBy: null }];
  return [
    fleetRecord(fact, fleetSpeaker()),
    waveRecord(onlyWave(folded([fact])), soonAfter(fact), fleetSpeaker()),
    waveRecord(onlyWave(folded(rollingFacts().slice(0, 8))), soonAfter(fact), fleetSpeaker()),
    silenceRecord({ state: 'silent', vms }, soonAfter(fact), fleetSpeaker()),
  ];
}
