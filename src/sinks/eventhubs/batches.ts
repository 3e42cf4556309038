// Sends records to a hub in as few messages as their partitions and the hub's limit allow, in order.
import type { EventData, EventDataBatch, EventHubProducerClient } from '@azure/event-hubs';
import type { Outcome } from '../../core/delivery.ts';
import type { OutgoingRecord } from '../sink.ts';
import type { Outcomes } from '../turns.ts';
import { messageOf } from './message.ts';

const delivered: Outcome = { status: 'delivered' };
const tooLarge: Outcome = { status: 'rejected', reason: 'too-large' };

/**
 * Sends until all is sent or the hub takes no more. A batch is taken or refused as a whole: where one bad record
 * may be the reason, each is sent by itself, so that it does not sink the others.
 * @param records at least one
 * @param outcomeOf reads what the SDK throws
 * @returns the outcomes of the records that were tried: at least of the first
 */
export async function sendInBatches(
  client: EventHubProducerClient,
  records: readonly OutgoingRecord[],
  outcomeOf: (error: unknown) => Outcome,
  abortSignal: AbortSignal,
): Promise<Outcomes> {
  const outcomes: Outcome[] = [];
  let alone = 0;
  while (outcomes.length < records.length && !(abortSignal.aborted && outcomes.length > 0)) {
    const left = records.slice(outcomes.length);
    const part = await sendPart(client, alone > 0 ? left.slice(0, 1) : left, outcomeOf, abortSignal);
    const count = part.length;
    if (count > 1 && part[0]?.status === 'rejected') {
      alone = count;
      continue;
    }
    alone -= 1;
    outcomes.push(...part);
    if (!part.every(isSettled)) break;
  }
  return outcomes;
}

/** Whether the outcome is the record's own, so that the next record may go on. */
const isSettled = ({ status }: Outcome): boolean => status === 'delivered' || status === 'rejected';

/** Sends as many of the first records as one message may carry. */
async function sendPart(
  client: EventHubProducerClient,
  records: readonly OutgoingRecord[],
  outcomeOf: (error: unknown) => Outcome,
  abortSignal: AbortSignal,
): Promise<Outcomes> {
  const partitionKey = records[0]?.record.partitionkey ?? '';
  const end = records.findIndex(({ record }) => record.partitionkey !== partitionKey);
  const run = (end === -1 ? records : records.slice(0, end)).map(messageOf);
  let count = 1;
  try {
    // One alone needs no batch, and asks the hub itself whether it is too large.
    if (run.length === 1) await client.sendBatch(run, { partitionKey, abortSignal });
    else {
      const batch = await client.createBatch({ partitionKey, abortSignal });
      count = fill(batch, run);
      if (count === 0) return [tooLarge];
      await client.sendBatch(batch, { abortSignal });
    }
    return Array<Outcome>(count).fill(delivered);
  } catch (error) {
    return Array<Outcome>(count).fill(outcomeOf(error));
  }
}

/** Fills a batch with the first messages, as long as they fit. @returns how many do */
function fill(batch: EventDataBatch, messages: readonly EventData[]): number {
  const end = messages.findIndex((message) => !batch.tryAdd(message));
  return end === -1 ? messages.length : end;
}
