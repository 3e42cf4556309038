// Reads a partition of the hub again, up to where it ends now, and compares it with the trail; safe beside a consumer.
import type { ConnectHub, HubConnection, HubDescription } from './hub.ts';
import { streamOf } from './reading.ts';
import {
  type Comparer,
  type Comparison,
  type ComparisonOptions,
  indexFrom,
  openComparer,
} from './replay-comparison.ts';

export interface ReplayOptions extends Omit<ComparisonOptions, 'stream'> {
  readonly connect: ConnectHub;
  /** Where to begin; with what the hub holds longest unless given. */
  readonly from: number | null;
  readonly signal: AbortSignal;
}

/** What was found in one partition. */
export interface Replayed extends Comparison {
  readonly partition: string;
  readonly stream: string;
}

/** The hub gave nothing for so long that nothing more is waited for. */
export class HubSilent extends Error {}

// Batches come every second at the latest, empty ones when there is nothing.
const silenceMsMax = 30_000;

/** What the hub says of itself. */
export async function describeHub(connect: ConnectHub): Promise<HubDescription> {
  await using connection = await connect();
  return await connection.describe();
}

/**
 * Compares one partition, appends what the trail lacks at its end, and writes down that it did.
 * What fails throws as the SDK throws it; HubSilent, HubJumps; what `sure` throws.
 */
export async function replayPartition(
  hub: HubDescription,
  partition: string,
  options: ReplayOptions,
): Promise<Replayed> {
  const stream = streamOf(hub, partition);
  const comparison = { ...options, stream };
  // Before the hub is asked for its end: what a consumer appends meanwhile is beyond neither.
  const { position } = await options.sure(() => options.trail.position(stream));
  await using connection = await options.connect();
  const end = await connection.lastSequenceNumber(partition);
  // From behind the trail's end there would be a hole between what it has and what it gets.
  const from = options.from === null ? 0 : Math.min(options.from, position.lastSequenceNumber + 1);
  const comparer = openComparer(comparison, await indexFrom(comparison, from));
  if (end >= 0 && position.lastSequenceNumber > end) {
    comparer.note({ sequenceNumber: end + 1, kind: 'not-in-hub' });
  }
  if (end >= from) await readUpTo(connection, { partition, from, end, signal: options.signal }, comparer);
  const result = comparer.result();
  await writeDown(options, stream, result);
  return { partition, stream, ...result };
}

interface Stretch {
  readonly partition: string;
  readonly from: number;
  readonly end: number;
  readonly signal: AbortSignal;
}

async function readUpTo(
  connection: HubConnection,
  { partition, from, end, signal }: Stretch,
  comparer: Comparer,
): Promise<void> {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  let isOver = false;
  let silence = setTimeout(() => reject(new HubSilent()), silenceMsMax);
  let inHand: Promise<void> = Promise.resolve();
  connection.read(partition, from - 1, {
    take: async (events) => {
      // The SDK goes on calling until the connection is closed.
      if (isOver || events.length === 0) return;
      clearTimeout(silence);
      inHand = comparer.take(events.filter(({ sequenceNumber: at }) => at >= from && at <= end));
      await inHand.then(() => {
        if ((events.at(-1)?.sequenceNumber ?? -1) >= end) resolve();
        else silence = setTimeout(() => reject(new HubSilent()), silenceMsMax);
      }, reject);
    },
    fail: reject,
    closed: () => reject(new HubSilent()),
  });
  try {
    if (signal.aborted) stop();
    await over;
  } finally {
    isOver = true;
    clearTimeout(silence);
    signal.removeEventListener('abort', stop);
    // Nothing may be written once the caller goes on.
    await inHand.catch(() => undefined);
  }
}

async function writeDown({ trail, sure }: ReplayOptions, stream: string, result: Comparison): Promise<void> {
  const { from, to, different } = result;
  if (from === null || to === null) return;
  await sure(() => trail.journal([{ kind: 'replayed', stream, from, to, different }]));
}
