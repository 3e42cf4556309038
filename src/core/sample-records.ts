// Made-up records of every transition, by the code that makes the real ones: to try out what a person configured.
import type { ScheduledEvent } from './document.ts';
import { type Observer, unknownObserver } from './observer.ts';
import { type BridgeRecord, type EventData, eventRecord, factId } from './record.ts';
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

/** One record for each transition: scheduled, updated, started, completed, canceled. */
export function sampleRecords(): readonly BridgeRecord<EventData>[] {
  const records = toldObservations().map((observation, index) =>
    eventRecord(
      observation,
      factId(observation.kind, observation.event),
      { observer, agent: { version: '1.0.0', instanceId: 'sample', sequence: index + 1 } },
      { incarnation: String(index + 1), apiVersion: '2020-07-01', bootId: 'sample', pollGapMs: stepMs },
    ),
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
