// Links on which clients publish.
import { setTimeout as delay } from 'node:timers/promises';
import type { AmqpDelivery, AmqpError, AmqpReceiver } from './amqp.ts';
import { forget, refuseLink } from './amqp.ts';
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

/** What faults do to a transfer instead of storing it. */
const insteadOfStoring: Partial<Record<FaultName, (publisher: Publisher, delivery: AmqpDelivery) => void>> = {
  'drop-before-store': ({ peer }) => peer.drop(),
  'server-busy': (_publisher, delivery) => delivery.reject(errors.serverBusy),
  'internal-error': (_publisher, delivery) => delivery.reject(errors.internalError('a fault was asked for')),
  detach: ({ link }) => link.close(errors.detachForced),
  'idle-close': ({ peer }) => peer.close(errors.connectionIdle(peer.service.limits.connectionIdleMs)),
};

/** What faults do to a transfer instead of accepting it, once it is stored. */
const insteadOfAccepting: Partial<Record<FaultName, (publisher: Publisher, delivery: AmqpDelivery) => void>> =
  {
    'drop-after-store': ({ peer }) => peer.drop(),
    'lost-ack': (_publisher, delivery) => forget(delivery),
  };

interface Transfer {
  readonly delivery: AmqpDelivery;
  readonly log: PartitionLog;
  readonly events: readonly PublishedEvent[];
  readonly fault: Fault | undefined;
}

async function store(publisher: Publisher, { delivery, log, events, fault }: Transfer): Promise<void> {
  const { peer, hub } = publisher;
  const { journal, counters } = peer.service;
  const instead = fault && insteadOfStoring[fault.name];
  if (instead !== undefined) return instead(publisher, delivery);
  if (fault?.name === 'slow') await wait(fault, peer.gone);
  const result = await journal.append(hub, log, events);
  if (!result.ok) return delivery.reject(errors.internalError(result.reason));
  counters.eventsStored += events.length;
  const late = fault && insteadOfAccepting[fault.name];
  if (late !== undefined) return late(publisher, delivery);
  delivery.accept();
}

/** @returns when the fault's time is over, or the connection is gone */
async function wait({ delayMs = FAULT_DELAY_MS }: Fault, gone: AbortSignal): Promise<void> {
  await delay(delayMs, undefined, { signal: gone }).catch(() => undefined);
}

function take(publisher: Publisher, delivery: AmqpDelivery, message: Buffer, format: number): void {
  const { peer, hub, link, messageBytesMax } = publisher;
  peer.service.counters.transfers += 1;
  if (!peer.claims.allow(publisher.path, 'send'))
    return link.close(errors.unauthorized('the token of the link has expired'));
  if (message.length > messageBytesMax)
    return delivery.reject(errors.tooLarge(message.length, messageBytesMax));
  const events = readTransfer(message, format);
  const [first] = events ?? [];
  if (events === undefined || first === undefined) return delivery.reject(errors.malformed);
  const log = publisher.partition ?? hub.route(first);
  const fault = peer.service.faults.strike('publish', { hub: hub.name, partition: log.id });
  void store(publisher, { delivery, log, events, fault });
}

function refusal(peer: Peer, address: PublishAddress, hub: Hub | undefined): AmqpError | undefined {
  const path = pathOf(address);
  if (!peer.claims.allow(path, 'send')) return errors.unauthorized('no valid token lets the link send');
  if (hub === undefined) return errors.notFound(address.hub);
  if (address.partition !== undefined && hub.partition(address.partition) === undefined)
    return errors.partitionOutOfRange(address.partition, hub.partitions.length);
  return undefined;
}

/** The smaller of the client's limit and the service's; a client without one says 0 or nothing. */
function messageLimit(link: AmqpReceiver, bytesMax: number): number {
  const asked = link.max_message_size;
  return typeof asked === 'number' && asked > 0 ? Math.min(asked, bytesMax) : bytesMax;
}

/** Detaches the link when nothing was published for long. */
function startIdleTimer({ peer, link }: Publisher): NodeJS.Timeout {
  const { senderIdleMs } = peer.service.limits;
  return setTimeout(() => link.close(errors.linkIdle(senderIdleMs)), senderIdleMs);
}

export function servePublisher(peer: Peer, link: AmqpReceiver, address: PublishAddress): void {
  const hub = findHub(peer.service, address.hub);
  const refused = refusal(peer, address, hub);
  if (refused !== undefined || hub === undefined)
    return refuseLink(link, refused ?? errors.notFound(address.hub));
  const { limits, counters } = peer.service;
  const messageBytesMax = messageLimit(link, limits.messageBytesMax);
  const partition = address.partition === undefined ? undefined : hub.partition(address.partition);
  const publisher: Publisher = { peer, link, hub, partition, path: pathOf(address), messageBytesMax };
  link.set_source({});
  link.set_target({ address: link.target?.address ?? '' });
  link.local.attach.max_message_size = messageBytesMax;
  const idle = startIdleTimer(publisher);
  counters.publishers += 1;
  peer.hold(link, () => {
    clearTimeout(idle);
    counters.publishers -= 1;
  });
  link.on('message', ({ delivery, message, format }) => {
    idle.refresh();
    if (delivery !== undefined && message !== undefined) take(publisher, delivery, message, format ?? 0);
  });
}
