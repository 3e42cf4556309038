// Synthetic observers: records of one event as N virtual machines would send them, made by the real record builder.
import type { TransitionKind, TransitionReason } from '../../src/core/diff.ts';
import type { ScheduledEvent } from '../../src/core/document.ts';
import { type Observer, unknownObserver } from '../../src/core/observer.ts';
import {
  type BridgeRecord,
  type EventData,
  encodeRecord,
  eventRecord,
  factId,
} from '../../src/core/record.ts';

/** The start of all synthetic time: 2026-11-10T22:00:00Z. */
export const synthesisAt = Date.UTC(2026, 10, 10, 22);

/** The UUID of the VM with this number. */
export const vmIdOf = (vm: number): string => `00000000-0000-4000-8000-${String(vm).padStart(12, '0')}`;

export const observerOf = (vm: number): Observer => ({
  ...unknownObserver,
  vmId: vmIdOf(vm),
  vmName: `web-${vm}`,
  vmScaleSet: 'web',
  faultDomain: String(vm % 5),
});

export const eventIdOf = (event: number): string =>
  `C7061BAC-AFDC-4513-B24B-${String(event).padStart(12, '0')}`;

/** A freeze of the first two VMs. */
export const freeze = (event = 0, change: Partial<ScheduledEvent> = {}): ScheduledEvent => ({
  eventId: eventIdOf(event),
  eventType: 'Freeze',
  eventStatus: 'Scheduled',
  eventSource: 'Platform',
  resourceType: 'VirtualMachine',
  resources: ['web-0', 'web-1'],
  notBefore: new Date(synthesisAt + 900_000).toISOString(),
  description: 'Host server is undergoing maintenance.',
  durationSeconds: 5,
  ...change,
});

export interface Saying {
  readonly event?: ScheduledEvent;
  readonly kind: TransitionKind;
  readonly vm?: number;
  /** Ms after `synthesisAt`. */
  readonly after?: number;
  readonly reason?: TransitionReason;
  readonly sequence?: number;
  readonly observer?: Observer;
}

/** The record with which one VM says one fact. */
export function saying({
  event = freeze(),
  kind,
  vm = 0,
  after = 0,
  ...rest
}: Saying): BridgeRecord<EventData> {
  const at = synthesisAt + after;
  const over = kind === 'completed' || kind === 'canceled';
  const reason = rest.reason ?? (over ? 'removed-after-started' : 'status');
  const sighting = {
    event,
    firstSeenAt: at,
    timeline: {},
    notBefore: event.notBefore,
    initial: false,
    approved: false,
  };
  return eventRecord(
    { kind, event, previous: {}, inferred: reason !== 'status', reason, at, sighting, noticeSeconds: null },
    factId(kind, event),
    {
      observer: rest.observer ?? observerOf(vm),
      agent: { version: '1.0.0', instanceId: `instance-${vm}`, sequence: rest.sequence ?? 1 },
    },
    { incarnation: '1', apiVersion: '2020-07-01', bootId: 'boot', pollGapMs: 1_000 },
  );
}

const started = { eventStatus: 'Started' } as const;

/** A whole live migration as one VM tells it: scheduled, started, completed. */
export const liveMigration = (event = 0, vm = 0): BridgeRecord<EventData>[] => [
  saying({ event: freeze(event), kind: 'scheduled', vm, after: vm, sequence: 1 }),
  saying({ event: freeze(event, started), kind: 'started', vm, after: 900_000 + vm, sequence: 2 }),
  saying({ event: freeze(event, started), kind: 'completed', vm, after: 960_000 + vm, sequence: 3 }),
];

/** Bodies as a hub would hold them, numbered from `first`. */
export const asHubEvents = (bodies: readonly (BridgeRecord | Uint8Array | string)[], first = 0) =>
  bodies.map((body, index) => ({
    sequenceNumber: first + index,
    enqueuedMs: synthesisAt + 1_000 * (first + index),
    body: bytesOf(body),
  }));

function bytesOf(body: BridgeRecord | Uint8Array | string): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body, 'utf8');
  return body instanceof Uint8Array ? body : encodeRecord(body);
}
