// Links on which clients publish.
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AmqpContext,
  type AmqpDelivery,
  type AmqpError,
  type AmqpReceiver,
  acceptLink,
  forget,
  refuseLink,
} from './amqp.ts';
import { type PublishedEvent, readTransfer } from './batch.ts';
import * as errors from './errors.ts';
import { FAULT_DELAY_MS, type Fault, type FaultName } from './faults.ts';
import type { Hub } from './hub.ts';
import type { PartitionLog } from './partition-log.ts';
import { findHub, type Peer } from './service.ts';

export interface PublishAddress {
  readonly hub: string;
  readonly partition: string | undefined;
}

interface Publisher {
  readonly peer: Peer;
  readonly link: AmqpReceiver;
  readonly hub: Hub;
  /** Set when the link's address names a partition. */
  readonly partition: PartitionLog | undefined;
  readonly path: string;
  readonly messageBytesMax: number;
}

const pathOf = ({ hub, partition }: PublishAddress): string =>
  partition === undefined ? hub : `${hub}/Partitions/${partition}`;

type Mishap = (publisher: Publisher, delivery: AmqpDelivery) => void;

/** What faults do to a transfer instead of storing it. */
const insteadOfStoring: Partial<Record<FaultName, Mishap>> = {
  'drop-before-store': ({ peer }) => peer.drop(),
  'server-busy': (_publisher, delivery) => delivery.reject(errors.serverBusy),
  'too-large': ({ messageBytesMax }, delivery) =>
    delivery.reject(errors.tooLarge(messageBytesMax + 1, messageBytesMax)),
  'internal-error': (_publisher, delivery) => delivery.reject(errors.internalError('a fault was asked for')),
  detach: ({ link }) => link.close(errors.detachForced),
  'idle-close': ({ peer }) => peer.close(errors.connectionIdle(peer.service.limits.connectionIdleMs)),
};

/** What faults do to a transfer instead of accepting it, once it is stored. */
const insteadOfAccepting: Partial<Record<FaultName, Mishap>> = {
  'drop-after-store': ({ peer }) => peer.drop(),
  'lost-ack': (_publisher, delivery) => forget(delivery),
};

const accept: Mishap = (_publisher, delivery) => delivery.accept();

interface Transfer {
  readonly delivery: AmqpDelivery;
  readonly log: PartitionLog;
  readonly events: readonly PublishedEvent[];
  readonly fault: Fault | undefined;
}

/** @returns when the fault's time is over, or the connection is gone */
async function wait({ delayMs = FAULT_DELAY_MS }: Fault, gone: AbortSignal): Promise<void> {
  await delay(delayMs, undefined, { signal: gone }).catch(() => undefined);
}

async function store(publisher: Publisher, { delivery, log, events, fault }: Transfer): Promise<void> {
  const { peer, hub } = publisher;
  if (fault?.name === 'slow') await wait(fault, peer.gone);
  const result = await peer.service.journal.append(hub, log, events);
  if (!result.ok) {
    delivery.reject(errors.internalError(result.reason));
    return;
  }
  peer.service.counters.eventsStored += events.length;
  const finish = (fault && insteadOfAccepting[fault.name]) ?? accept;
  finish(publisher, delivery);
}

/** @returns the events of a transfer, or why it is refused */
function read(publisher: Publisher, message: Buffer, format: number): readonly PublishedEvent[] | AmqpError {
  const { messageBytesMax } = publisher;
  if (message.length > messageBytesMax) return errors.tooLarge(message.length, messageBytesMax);
  return readTransfer(message, format) ?? errors.malformed;
}

function take(publisher: Publisher, delivery: AmqpDelivery, events: readonly PublishedEvent[]): void {
  const { peer, hub } = publisher;
  const log = publisher.partition ?? hub.route(events[0]?.partitionKey);
  const fault = peer.service.faults.strike('publish', { hub: hub.name, partition: log.id });
  const instead = fault && insteadOfStoring[fault.name];
  if (instead !== undefined) instead(publisher, delivery);
  else void store(publisher, { delivery, log, events, fault });
}

/** A transfer without a payload, as rhea has it, has no message. */
const nothing = Buffer.alloc(0);

function onMessage(publisher: Publisher, context: AmqpContext): void {
  const { peer, link, path } = publisher;
  const { delivery, message = nothing, format = 0 } = context;
  if (delivery === undefined) return;
  peer.service.counters.transfers += 1;
  if (!peer.claims.allow(path, 'send')) {
    link.close(errors.unauthorized('the token of the link has expired'));
    return;
  }
  const events = read(publisher, message, format);
  if ('condition' in events) delivery.reject(events);
  else take(publisher, delivery, events);
}

/** The smaller of the client's limit and the service's; a client without one says 0 or nothing. */
function messageLimit(link: AmqpReceiver, bytesMax: number): number {
  const asked = link.max_message_size;
  return typeof asked === 'number' && asked > 0 ? Math.min(asked, bytesMax) : bytesMax;
}

/** @returns what the address names, or why a client may not publish to it */
function locate(peer: Peer, link: AmqpReceiver, address: PublishAddress): Publisher | AmqpError {
  const path = pathOf(address);
  if (!peer.claims.allow(path, 'send')) return errors.unauthorized('no valid token lets the link send');
  const hub = findHub(peer.service, address.hub);
  if (hub === undefined) return errors.notFound(address.hub);
  const partition = address.partition === undefined ? undefined : hub.partition(address.partition);
  if (address.partition !== undefined && partition === undefined)
    return errors.partitionOutOfRange(address.partition, hub.partitions.length);
  const messageBytesMax = messageLimit(link, peer.service.limits.messageBytesMax);
  return { peer, link, hub, partition, path, messageBytesMax };
}

function begin(publisher: Publisher): void {
  const { peer, link } = publisher;
  const { limits, counters } = peer.service;
  const { senderIdleMs } = limits;
  const idle = setTimeout(() => link.close(errors.linkIdle(senderIdleMs)), senderIdleMs);
  counters.publishers += 1;
  peer.hold(link, () => {
    clearTimeout(idle);
    counters.publishers -= 1;
  });
  link.on('message', (context) => {
    idle.refresh();
    onMessage(publisher, context);
  });
}

/** Lets a client publish, or refuses its link with the reason. */
export function servePublisher(peer: Peer, link: AmqpReceiver, address: PublishAddress): void {
  const publisher = locate(peer, link, address);
  if ('condition' in publisher) {
    refuseLink(link, publisher);
    return;
  }
  acceptLink(link);
  // Clients believe whatever stands here: nothing means no limit, and 0 that no event is small enough.
  link.local.attach.max_message_size = publisher.messageBytesMax;
  begin(publisher);
}
