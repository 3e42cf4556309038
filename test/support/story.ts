// A VM's life in documents: takes them in one after another, as an agent would, and keeps what was said.
import { observerFrom } from '../../src/core/observer.ts';
import {
  type BridgeRecord,
  type EventData,
  eventRecord,
  factId,
  type Provenance,
  type Stamp,
} from '../../src/core/record.ts';
import { emptyWatch, type Observation, observe, type Watch } from '../../src/core/watch.ts';
import { documentOf, freeze, freezeStarted } from './documents.ts';

/** One good document and its circumstances. */
export interface Step {
  readonly events: readonly unknown[];
  /** One more than that of the step before unless given. */
  readonly incarnation?: unknown;
  /** Ms since the step before: 1 s unless given. */
  readonly afterMs?: number;
  /** As `afterMs` unless given. */
  readonly pollGapMs?: number | null;
  /** The agent was started anew: all it knows is what it had written down. */
  readonly restart?: boolean;
  /** The VM was started anew, and the agent with it. */
  readonly reboot?: boolean;
}

export interface Told {
  readonly observations: readonly Observation[];
  readonly changed: boolean;
  readonly watch: Watch;
}

/** When a story begins unless it says so itself: a quarter of an hour before the documented freeze. */
export const storyBeginsAt = Date.parse('2026-11-10T22:11:31.204Z');

/** The VM that sees it, and its agent. */
export const stamp: Stamp = {
  observer: observerFrom({
    compute: {
      vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
      name: 'WestNO_0',
      resourceId:
        '/subscriptions/1111/resourceGroups/rg-westno/virtualMachineScaleSets/WestNO/virtualMachines/0',
      subscriptionId: '1111',
      resourceGroupName: 'rg-westno',
      location: 'norwaywest',
      zone: '',
      vmScaleSetName: 'WestNO',
      placementGroupId: 'f67c14ab',
      platformFaultDomain: '1',
      platformUpdateDomain: '3',
      vmSize: 'Standard_D4s_v5',
      osProfile: { computerName: 'westno000000' },
    },
  }),
  agent: { version: '1.0.0', instanceId: '5d3bb9b2-2b3a-4c5f-9d54-0a8a9f7a5b11', sequence: 42 },
};

export const provenance: Provenance = {
  incarnation: '3',
  apiVersion: '2020-07-01',
  bootId: 'boot-0',
  pollGapMs: 1004,
};

/** Tells a story from a first, empty document on, which is not a step of it. */
export function tell(steps: readonly Step[], before: Watch = emptyWatch('boot-0')): Told[] {
  let [watch, now, incarnation, boots] = [before, storyBeginsAt, 1, 0];
  return steps.map((step) => {
    const { afterMs = 1000, restart = false, reboot = false } = step;
    now += afterMs;
    incarnation += 1;
    boots += reboot ? 1 : 0;
    const firstSinceStart = restart || reboot;
    if (firstSinceStart) watch = JSON.parse(JSON.stringify(watch)) as Watch;
    const document = documentOf(step.events, 'incarnation' in step ? step.incarnation : incarnation);
    const pollGapMs = step.pollGapMs === undefined ? afterMs : step.pollGapMs;
    const told = observe(watch, document, { now, pollGapMs, bootId: `boot-${boots}`, firstSinceStart });
    watch = told.watch;
    return told;
  });
}

/** What was said at each step: `started`, or for an inference `completed (start-not-observed)`. */
export const said = (steps: readonly Step[], before?: Watch): string[][] =>
  tell(steps, before).map(({ observations }) =>
    observations.map(({ kind, inferred, reason }) => (inferred ? `${kind} (${reason})` : kind)),
  );

/** The ids of all that was said. */
export const factsOf = (told: readonly Told[]): string[] =>
  told.flatMap(({ observations }) => observations.map(({ kind, event }) => factId(kind, event)));

/** The record of the last thing that a story says. */
export function lastRecord(steps: readonly Step[], by = stamp): BridgeRecord<EventData> {
  const observation = tell(steps).at(-1)?.observations.at(-1);
  if (observation === undefined) throw new Error('the story says nothing in the end');
  return eventRecord(observation, factId(observation.kind, observation.event), by, provenance);
}

const startsAt = Date.parse('2026-11-10T22:27:04.118Z');

/** The design's example: announced a quarter of an hour before it began. */
export const documentedLife: readonly Step[] = [
  { events: [freeze], afterMs: 0 },
  { events: [freezeStarted], afterMs: startsAt - storyBeginsAt },
];
