// Sample records, made by the same code that makes the real ones.
import { randomUUID } from 'node:crypto';
import type { ScheduledEvent, ScheduledEventsDocument } from '../../src/core/document.ts';
import { type Observer, unknownObserver } from '../../src/core/observer.ts';
import {
  agentRecord,
  type BridgeRecord,
  type EventData,
  encodeRecord,
  eventRecord,
  factId,
  type Stamp,
} from '../../src/core/record.ts';
import { emptyWatch, type Observation, observe, type Watch } from '../../src/core/watch.ts';
import type { OutgoingRecord } from '../../src/sinks/sink.ts';

/** The VM that sees the sample events and is named by them. */
export const sampleObserver: Observer = {
  ...unknownObserver,
  vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
  vmName: 'WestNO_0',
  resourceId: '/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/rg/vm/WestNO_0',
};

const startedAt = Date.UTC(2026, 10, 10, 22, 11, 31, 204);
const provenance = { incarnation: '2', apiVersion: '2020-07-01', bootId: 'boot', pollGapMs: 1_000 };
const instanceId = '5d3bb9b2-2b3a-4c5f-9d54-0a8a9f7a5b11';

const stampOf = (sequence: number): Stamp => ({
  observer: sampleObserver,
  agent: { version: '1.0.0', instanceId, sequence },
});

/** A live migration that has just been announced; `change` what the test is about. */
export const sampleEvent = (change: Partial<ScheduledEvent> = {}): ScheduledEvent => ({
  eventId: randomUUID().toUpperCase(),
  eventType: 'Freeze',
  eventStatus: 'Scheduled',
  eventSource: 'Platform',
  resourceType: 'VirtualMachine',
  resources: ['WestNO_0', 'WestNO_1'],
  notBefore: '2026-11-10T22:26:58Z',
  description: 'Host server is undergoing maintenance. Größe: 5 µs',
  durationSeconds: 5,
  ...change,
});

/** The records of an event's whole life: scheduled, started, completed. */
export function sampleLife(change: Partial<ScheduledEvent> = {}): BridgeRecord<EventData>[] {
  const scheduled = sampleEvent(change);
  const started = { ...scheduled, eventStatus: 'Started', notBefore: null };
  let watch: Watch = emptyWatch('boot');
  const observations: Observation[] = [];
  [[scheduled], [started], []].forEach((events, index) => {
    const document: ScheduledEventsDocument = { incarnation: String(index + 2), events, partial: false };
    const now = startedAt + index * 60_000;
    const moment = { now, pollGapMs: 1_000, bootId: 'boot', firstSinceStart: false };
    const observed = observe(watch, document, moment);
    watch = observed.watch;
    observations.push(...observed.observations);
  });
  return observations.map((observation, index) =>
    eventRecord(observation, factId(observation.kind, observation.event), stampOf(index + 1), provenance),
  );
}

/** The first record of an event's life. */
export function sampleRecord(change: Partial<ScheduledEvent> = {}): BridgeRecord<EventData> {
  const [scheduled] = sampleLife(change);
  if (scheduled === undefined) throw new Error('an event that is announced gives a record');
  return scheduled;
}

/** A record that an agent sends about itself. */
export const sampleAgentRecord = (sequence = 1): BridgeRecord =>
  agentRecord('heartbeat', startedAt, { uptimeSeconds: 3_600 }, stampOf(sequence));

/** A record on its way, with its bytes. */
export const outgoing = (record: BridgeRecord): OutgoingRecord => ({ record, bytes: encodeRecord(record) });

/** As many different records on their way as asked for. */
export const outgoingRecords = (count: number): OutgoingRecord[] =>
  Array.from({ length: count }, () => outgoing(sampleRecord()));
