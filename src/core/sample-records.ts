// Made-up records of every transition and deed, by the code that makes the real ones: to try out what was configured.
import { approvalRecord, hookRecord, impactRecord } from './deed.ts';
import type { ScheduledEvent } from './document.ts';
import { type Observer, unknownObserver } from './observer.ts';
import { type BridgeRecord, type EventData, eventRecord, factId, type Stamp } from './record.ts';
import { emptyWatch, type Observation, observe, type Watch } from './watch.ts';

const event: ScheduledEvent = {
  eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  eventType: 'Freeze',
  eventStatus: 'Scheduled',
  eventSource: 'Platform',
  resourceType: 'VirtualMachine',
  resources: ['vm-1', 'vm-2'],
  notBefore: '2026-11-10T22:26:58Z',
  description: 'A sample. Nothing is scheduled.',
  durationSeconds: 5,
};

const observer: Observer = {
  ...unknownObserver,
  vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
  vmName: 'vm-1',
  location: 'norwayeast',
  vmSize: 'Standard_D4s_v5',
};

const begunAt = Date.parse('2026-11-10T22:11:31.204Z');
const stepMs = 5_000;

// One event that is announced, put off, and runs; and another that is called off.
const story: readonly (readonly ScheduledEvent[])[] = [
  [event],
  [{ ...event, notBefore: '2026-11-10T22:36:58Z' }],
  [{ ...event, eventStatus: 'Started', notBefore: null }],
  [],
  [{ ...event, eventId: '5B1F8F7E-0D5A-4E9A-9F0B-6C1B7B0E5A11', eventType: 'Reboot', durationSeconds: null }],
  [],
];

const stampOf = (sequence: number): Stamp => ({
  observer,
  agent: { version: '1.0.0', instanceId: 'sample', sequence },
});

/** One record for each transition: scheduled, updated, started, completed, canceled. */
export function sampleRecords(): readonly BridgeRecord<EventData>[] {
  const records = toldObservations().map((observation, index) =>
    eventRecord(observation, factId(observation.kind, observation.event), stampOf(index + 1), {
      incarnation: String(index + 1),
      apiVersion: '2020-07-01',
      bootId: 'sample',
      pollGapMs: stepMs,
    }),
  );
  // The second event is there to be called off; its announcement is like the first one.
  return records.filter((record, index) => records.findIndex(({ type }) => type === record.type) === index);
}

function toldObservations(): readonly Observation[] {
  let watch: Watch = emptyWatch('sample');
  return story.flatMap((events, index) => {
    const document = { incarnation: String(index + 1), events, partial: false };
    const now = begunAt + index * stepMs;
    const observed = observe(watch, document, {
      now,
      pollGapMs: stepMs,
      bootId: 'sample',
      firstSinceStart: false,
    });
    watch = observed.watch;
    return observed.observations;
  });
}

const at = (afterMs: number): string => new Date(begunAt + afterMs).toISOString();

/** One record for each deed: an approval, a hook, and what was felt of an event. */
export const sampleDeeds = (): readonly BridgeRecord[] => [
  hookRecord(
    begunAt + 2 * stepMs,
    {
      ...{ event, phase: 'prepare', hook: '/usr/local/bin/drain', outcome: 'succeeded', reason: null },
      ...{ exitCode: 0, signal: null, startedAt: at(0), durationMs: 2 * stepMs, timeoutMs: 300_000 },
      ...{ output: 'A sample. Nothing was run.', outputTruncated: false, ending: null },
    },
    stampOf(21),
  ),
  approvalRecord(
    begunAt + 3 * stepMs,
    {
      ...{ event, decision: 'approved', reason: 'rule', actor: { kind: 'agent', name: 'vm-1' } },
      ...{ rule: { place: 1, action: 'afterHooks' }, elected: 'first' },
      ...{ answer: { status: 200, attempts: 1 }, undelivered: [] },
    },
    stampOf(22),
  ),
  impactRecord(
    begunAt + 10 * stepMs,
    {
      ...{ event, kind: 'pause', measured: { lowerMs: 2_702, upperMs: 2_998 }, advertisedSeconds: 5 },
      window: { from: at(0), to: at(10 * stepMs) },
      pauses: [{ lowerMs: 2_702, upperMs: 2_998, at: at(4 * stepMs) }],
      reboot: null,
      moved: { temporaryDisk: 'kept', faultDomain: { before: '1', after: '1' } },
    },
    stampOf(23),
  ),
];
