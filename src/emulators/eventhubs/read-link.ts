// Links on which clients read a partition.
import type { AmqpError, AmqpSender } from './amqp.ts';
import { acceptLink, giveBackCredit, refuseLink, sendBudget } from './amqp.ts';
import { encodeDelivery, runtimeMetrics } from './delivery.ts';
import * as errors from './errors.ts';
import { FAULT_DELAY_MS, type Fault } from './faults.ts';
import type { Hub } from './hub.ts';
import type { Reader } from './ownership.ts';
import type { LoggedEvent, PartitionLog } from './partition-log.ts';
import { findHub, type Peer } from './service.ts';
import { startPosition } from './start-position.ts';

export interface ReadAddress {
  readonly hub: string;
  readonly group: string;
  readonly partition: string;
}

const EPOCH = 'com.microsoft:epoch';
const RUNTIME_METRICS = 'com.microsoft:enable-receiver-runtime-metric';

/** Events per turn of the event loop, so that one reader does not hold up the others. */
const TURN_EVENTS_MAX = 500;

interface Place {
  readonly hub: Hub;
  readonly log: PartitionLog;
  readonly path: string;
}

const pathOf = ({ hub, group, partition }: ReadAddress): string =>
  `${hub}/ConsumerGroups/${group}/Partitions/${partition}`;

/** @returns what the address names, or why a reader may not have it */
function locate(peer: Peer, address: ReadAddress): Place | AmqpError {
  const path = pathOf(address);
  if (!peer.claims.allow(path, 'listen')) return errors.unauthorized('no valid token lets the link listen');
  const hub = findHub(peer.service, address.hub);
  if (hub === undefined) return errors.notFound(address.hub);
  if (!hub.hasGroup(address.group)) return errors.notFound(`${hub.name}/ConsumerGroups/${address.group}`);
  const log = hub.partition(address.partition);
  return log === undefined
    ? errors.partitionOutOfRange(address.partition, hub.partitions.length)
    : { hub, log, path };
}

function epochOf(link: AmqpSender): number | undefined {
  const epoch = link.properties?.[EPOCH];
  return typeof epoch === 'number' ? epoch : undefined;
}

const readerOf = (link: AmqpSender): Reader => ({
  epoch: epochOf(link),
  evict: (error) => link.close(error),
});

const wantsMetrics = (link: AmqpSender): boolean =>
  [link.desired_capabilities ?? []].flat().includes(RUNTIME_METRICS);

interface Reading extends Place {
  readonly peer: Peer;
  readonly link: AmqpSender;
  readonly hasMetrics: boolean;
  leave(): void;
  nextSequenceNumber: number;
  draining: boolean;
  /** Ends the turn that is due; undefined when none is. */
  cancelTurn: (() => void) | undefined;
}

/** rhea updates credit between turns only, so every turn of the event loop delivers one portion. */
function schedule(reading: Reading): void {
  if (reading.cancelTurn !== undefined) return;
  const turn = setImmediate(deliverPortion, reading);
  reading.cancelTurn = () => clearImmediate(turn);
}

function scheduleLate(reading: Reading, delayMs: number): void {
  const turn = setTimeout(deliverPortion, delayMs, reading);
  reading.cancelTurn = () => clearTimeout(turn);
}

function deliverPortion(reading: Reading): void {
  const { peer, link, log } = reading;
  reading.cancelTurn = undefined;
  if (!link.is_open()) return;
  if (!peer.claims.allow(reading.path, 'listen')) {
    link.close(errors.unauthorized('the token of the link has expired'));
    return;
  }
  const budget = Math.min(sendBudget(link), TURN_EVENTS_MAX);
  const events = budget === 0 ? [] : log.read(reading.nextSequenceNumber, budget);
  if (events.length > 0) deliver(reading, events);
  else if (reading.draining && budget > 0) giveBackCredit(link);
}

function deliver(reading: Reading, events: readonly LoggedEvent[]): void {
  const { peer, hub, log } = reading;
  const { faults, counters } = peer.service;
  const fault = faults.strike('receive', { hub: hub.name, partition: log.id });
  if (fault !== undefined) {
    suffer(reading, fault);
    return;
  }
  for (const event of events) send(reading, event);
  counters.eventsDelivered += events.length;
  schedule(reading);
}

function send(reading: Reading, event: LoggedEvent): void {
  const { peer, log, link } = reading;
  const metrics = reading.hasMetrics ? runtimeMetrics(log.state, peer.service.clock.now()) : undefined;
  link.send(encodeDelivery(event, metrics), undefined, 0);
  reading.nextSequenceNumber = event.sequenceNumber + 1;
}

function suffer(reading: Reading, { name, delayMs = FAULT_DELAY_MS }: Fault): void {
  if (name === 'drop-on-receive') reading.peer.drop();
  else if (name === 'detach-on-receive') reading.link.close(errors.detachForced);
  else scheduleLate(reading, delayMs);
}

function begin(reading: Reading): void {
  const { peer, link, log } = reading;
  const wake = (): void => schedule(reading);
  const silence = [log.onKeep(wake), peer.onFlow(wake)];
  link.on('sender_flow', () => {
    reading.draining = false;
  });
  link.on('sender_draining', () => {
    reading.draining = true;
  });
  peer.service.counters.readers += 1;
  peer.hold(link, () => {
    for (const stop of silence) stop();
    reading.cancelTurn?.();
    peer.service.counters.readers -= 1;
    reading.leave();
  });
}

/** @returns the reading, once the reader is let in; or why it is not */
function open(peer: Peer, link: AmqpSender, address: ReadAddress): Reading | AmqpError {
  const place = locate(peer, address);
  if ('condition' in place) return place;
  const start = startPosition(link.source?.filter, place.log);
  if (!start.ok) return start.error;
  const readers = place.hub.readers(address.group, address.partition);
  const reader = readerOf(link);
  const refused = readers.admit(reader);
  if (refused !== undefined) return refused;
  return {
    ...place,
    peer,
    link,
    hasMetrics: wantsMetrics(link),
    leave: () => readers.leave(reader),
    nextSequenceNumber: start.sequenceNumber,
    draining: false,
    cancelTurn: undefined,
  };
}

/** Deliveries come settled, as the service has it (vcabbage/amqp #43): clients owe no answer. */
const SETTLED = 1;

/** Lets a client read, or refuses its link with the reason. */
export function serveReader(peer: Peer, link: AmqpSender, address: ReadAddress): void {
  const reading = open(peer, link, address);
  if ('condition' in reading) {
    refuseLink(link, reading);
    return;
  }
  acceptLink(link);
  link.local.attach.snd_settle_mode = SETTLED;
  begin(reading);
}
