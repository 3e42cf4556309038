// What arrived since the last look: at the hub and at the webhook, record by record as they were sent.
import { eventIdIn, readRecord, type TrailRecord } from '../../core/read-record.ts';
import type { EventHubsEmulator } from '../../emulators/eventhubs/emulator.ts';
import { deedText } from './approver.ts';
import { count, type Line, namesOf, type Place } from './line.ts';
import type { Receiver } from './receiver.ts';

export interface ArrivalView {
  look(): readonly Line[];
  /** Every record that stands in the hub, repeats included. */
  readonly inHub: readonly TrailRecord[];
}

interface Arrival {
  readonly record: TrailRecord;
  readonly partition?: string;
}

/** @param labelOf how an event is called */
export function viewArrivals(
  hub: EventHubsEmulator,
  receiver: Receiver,
  labelOf: (eventId: string) => string,
): ArrivalView {
  const inHub: TrailRecord[] = [];
  const seen = new Map<string, number>();
  let posts = 0;
  const newInHub = (): Arrival[] => {
    const events = Map.groupBy(hub.events(), ({ partition }) => partition);
    return [...events].flatMap(([partition, stored]) => {
      const fresh = stored.slice(seen.get(partition) ?? 0);
      seen.set(partition, stored.length);
      return fresh.flatMap(({ body }) => arrivalOf(body, partition));
    });
  };
  return {
    inHub,
    look: () => {
      const arrived = newInHub();
      inHub.push(...arrived.map(({ record }) => record));
      const posted = receiver.records.slice(posts).map((record) => ({ record }));
      posts += posted.length;
      return [
        ...arrivalLines('hub', 'record', arrived, labelOf),
        ...arrivalLines('webhook', 'POST', posted, labelOf),
      ];
    },
  };
}

function arrivalOf(body: Uint8Array, partition: string): Arrival[] {
  const reading = readRecord(body);
  return reading.status === 'record' ? [{ record: reading.record, partition }] : [];
}

/** One line per fact. */
function arrivalLines(
  place: Place,
  noun: string,
  arrivals: readonly Arrival[],
  labelOf: (eventId: string) => string,
): Line[] {
  const facts = Map.groupBy(arrivals, ({ record }) => factOf(record));
  return [...facts.values()].map((group) => {
    const [first] = group;
    const eventId = first === undefined ? null : eventIdIn(first.record);
    const vms = group.map(({ record }) => record.agent.observer.vmName ?? 'a VM without a name yet');
    const partitions = [...new Set(group.flatMap(({ partition }) => partition ?? []))].sort();
    const into = partitions.length === 0 ? '' : ` in partition ${partitions.join(', ')}`;
    return {
      place,
      what: first === undefined ? '' : said(first.record),
      event: eventId === null ? '' : labelOf(eventId),
      detail: `${count(group.length, noun)}${into} from ${namesOf(vms)}`,
    };
  });
}

/** Records with the same text are told in one line. */
const factOf = (record: TrailRecord): string =>
  record.event === null ? `${said(record)} ${eventIdIn(record)}` : record.id;

/** With `~` when the record says that it is inferred. */
function said({ event, deed, type }: TrailRecord): string {
  if (event !== null) return `${event.transition}${event.inferred ? '~' : ''}`;
  return deed === null ? kindOf(type) : deedText(deed.deed);
}

/** `agent.started` of a record type that is about no event. */
const kindOf = (type: string): string => type.split('.').slice(3, -1).join('.');
