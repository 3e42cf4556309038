// A fleet's whole year in a hub: what many VMs say of the same events, spread over partitions as Azure would.
import { EventHubProducerClient } from '@azure/event-hubs';
import { encodeRecord } from '../../../src/core/record.ts';
import type { HubPlace } from '../../support/running-consumer.ts';
import { freeze, type Saying, saying } from '../../support/synthetic.ts';

const kinds = ['scheduled', 'started', 'completed'] as const;
const batchLength = 300;

/** How much is said, and where to. */
export interface Backlog {
  readonly vms: number;
  /** What each VM says, in its own sequence without a hole. */
  readonly recordsPerVm: number;
  readonly partitions: number;
}

/** Publishes the backlog; every record of one event goes to one partition, as its key would have it. */
export async function publishBacklog({ connectionString, eventHubName }: HubPlace, backlog: Backlog) {
  const client = new EventHubProducerClient(connectionString, eventHubName);
  const waiting = Array.from({ length: backlog.partitions }, (): Buffer[] => []);
  const send = async (partition: number): Promise<void> => {
    const bodies = waiting[partition]?.splice(0) ?? [];
    if (bodies.length === 0) return;
    await client.sendBatch(
      bodies.map((body) => ({ body })),
      { partitionId: String(partition) },
    );
  };
  for (let step = 0; step < backlog.recordsPerVm; step++) {
    const partition = Math.floor(step / kinds.length) % backlog.partitions;
    for (let vm = 0; vm < backlog.vms; vm++) {
      waiting[partition]?.push(Buffer.from(encodeRecord(saying(sayingAt(step, vm)))));
      if ((waiting[partition]?.length ?? 0) >= batchLength) await send(partition);
    }
  }
  for (let partition = 0; partition < backlog.partitions; partition++) await send(partition);
  await client.close();
}

function sayingAt(step: number, vm: number): Saying {
  const event = Math.floor(step / kinds.length);
  const kind = kinds[step % kinds.length] ?? 'scheduled';
  const status = kind === 'scheduled' ? 'Scheduled' : 'Started';
  const content = freeze(event, { eventStatus: status });
  return { event: content, kind, vm, after: step * 1_000 + vm, sequence: step + 1 };
}
