// The `$management` node: what a hub and its partitions look like.
import { type AmqpError, type AmqpReceiver, type AmqpRequest, typed } from './amqp.ts';
import * as errors from './errors.ts';
import type { Hub } from './hub.ts';
import type { PartitionLog } from './partition-log.ts';
import { type Reply, serveRequests } from './request-link.ts';
import { findHub, type Peer } from './service.ts';

const HUB = 'com.microsoft:eventhub';
const PARTITION = 'com.microsoft:partition';

const failed = (statusCode: number, { condition, description }: AmqpError): Reply => ({
  statusCode,
  condition,
  description,
});

const found = (body: object): Reply => ({ statusCode: 200, description: 'OK', body });

const describeHub = (hub: Hub): Reply =>
  found({
    name: hub.name,
    type: HUB,
    created_at: typed.timestamp(hub.createdAt),
    partition_count: typed.int(hub.partitions.length),
    partition_ids: typed.strings(hub.partitions.map(({ id }) => id)),
    georeplication_factor: typed.int(1),
  });

function describePartition(hub: Hub, { id, state }: PartitionLog): Reply {
  return found({
    name: hub.name,
    type: PARTITION,
    partition: id,
    begin_sequence_number: typed.long(state.firstSequenceNumber),
    last_enqueued_sequence_number: typed.long(state.lastSequenceNumber),
    last_enqueued_offset: String(state.lastOffset),
    last_enqueued_time_utc: typed.timestamp(state.lastEnqueuedAt),
    is_partition_empty: state.isEmpty,
  });
}

function read(peer: Peer, request: AmqpRequest, hubOfLink: string | undefined): Reply {
  const { operation, type, name, partition } = request.application_properties ?? {};
  if (operation !== 'READ') return { statusCode: 400, description: 'The operation is not READ.' };
  const hubName = String(name ?? hubOfLink ?? '');
  if (!peer.claims.allow(`${hubName}/$management`))
    return failed(401, errors.unauthorized('no valid token covers the hub'));
  const hub = findHub(peer.service, hubName);
  if (hub === undefined) return failed(404, errors.notFound(hubName));
  if (type === HUB) return describeHub(hub);
  if (type !== PARTITION) return { statusCode: 400, description: 'The type is neither hub nor partition.' };
  const log = hub.partition(String(partition));
  if (log === undefined)
    return failed(400, errors.partitionOutOfRange(String(partition), hub.partitions.length));
  return describePartition(hub, log);
}

/** @param hubOfLink the hub that the link's address names, if it does */
export function serveManagement(peer: Peer, receiver: AmqpReceiver, hubOfLink: string | undefined): void {
  serveRequests(receiver, (request) => {
    const { counters, faults } = peer.service;
    counters.managementRequests += 1;
    const fault = faults.strike('management', { hub: hubOfLink });
    if (fault?.name === 'drop-on-management') peer.drop();
    return fault === undefined ? read(peer, request, hubOfLink) : undefined;
  });
}
