// READ FIRST: the program that keeps the trail, in order. Hub → batch → one commit → trail, session after session.
import { openSqliteTrail } from '../audit/sqlite.ts';
import { type TrailStore, TrailUnusable } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { Service } from '../service-notify.ts';
import { type ConnectHub, type HubDescription, hubConnector } from './hub.ts';
import { hubAdviceOf } from './hub-advice.ts';
import { hubFaultOf } from './hub-fault.ts';
import type { StoredBatch, Trouble } from './partition-feed.ts';
import { openProgress, type Progress } from './progress.ts';
import { serviceReport } from './service-report.ts';
import { runSession, type SessionEnd } from './session.ts';
import { openSessionLog, pauseMs } from './session-log.ts';
import type { ConsumerSettings } from './settings.ts';
import { openStanding } from './standing.ts';
import type { PartitionLook } from './watchdog.ts';

/** What the consumer tells the program around it, as it happens. */
export type ConsumerProgress =
  | { readonly kind: 'reading'; readonly hub: HubDescription }
  | ({ readonly kind: 'stored' } & StoredBatch)
  | ({ readonly kind: 'trouble' } & Trouble)
  | { readonly kind: 'looked'; readonly partitions: readonly PartitionLook[] }
  | { readonly kind: 'ended'; readonly end: SessionEnd };

/** What the consumer takes from the process around it. */
export interface ConsumerRuntime {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the consumer after the batches in hand, within 5 s. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: ConsumerProgress) => void;
  /** Is told when the consumer is ready, and how it stands; nobody when there is no service manager. */
  readonly service?: Service | null;
  /** How often the connection is doubted, ms. */
  readonly watchIntervalMs?: number;
  /** Events that one partition may send ahead before its connection is made anew. */
  readonly creditMax?: number;
}

/** How a run ended. */
export type ConsumerEnd = { readonly ok: true } | { readonly ok: false; readonly reason: string };

// A stall shows at the second look: so within half a minute, whatever the SDK does not notice.
const watchIntervalMs = 10_000;
// Each idle second allows the hub 300 more events in flight, without end; this much fits into memory.
const creditMax = 100_000;

/**
 * Reads the hub into the trail until `signal` aborts.
 * @returns why it could not start, or that it ended as asked; trouble with the hub never ends it
 */
export async function runConsumer(
  settings: ConsumerSettings,
  runtime: ConsumerRuntime,
): Promise<ConsumerEnd> {
  const { clock, log, signal } = runtime;
  const connect = hubConnector(settings.hub);
  const unusable = await faultOf(connect);
  if (unusable !== null) return { ok: false, reason: unusable };
  const opened = openTrail(settings.trail.path);
  if ('reason' in opened) return { ok: false, reason: opened.reason };
  await using trail = opened;

  const [progress, standing] = [openProgress(clock), openStanding(clock)];
  // Loaded only here: a consumer without a status page does not pay for one.
  const status = settings.status && (await import('./status.ts')).openStatus(settings.status);
  const tell = (news: ConsumerProgress): void => {
    standing.take(news);
    status?.take(news);
    runtime.onProgress?.(news);
  };
  const { now, lateMs } = { ...standing, ...progress };
  const served = status?.serve({ standing: now, lateMs, clock, log, signal });
  // Before the hub is reached: that may take long, and what is ordered behind the consumer waits for this.
  using _told = runtime.service?.ready(() => serviceReport(now(), lateMs()), log);
  await readOn({ ...runtime, connect, trail, progress, tell });
  await served;
  return { ok: true };
}

interface ReadOptions extends Omit<ConsumerRuntime, 'onProgress' | 'service'> {
  readonly connect: ConnectHub;
  readonly trail: TrailStore;
  readonly progress: Progress;
  readonly tell: (news: ConsumerProgress) => void;
}

/** Session after session, until `signal` aborts. */
async function readOn({ tell, progress, ...options }: ReadOptions): Promise<void> {
  const { clock, signal } = options;
  const holes = new Map<string, number>();
  const say = openSessionLog(options.log);
  for (let failures = 0; !signal.aborted; ) {
    let stored = false;
    const end = await runSession({
      ...{ watchIntervalMs, creditMax, ...options, holes, progress },
      onReading: (hub) => {
        say.reading(hub);
        tell({ kind: 'reading', hub });
      },
      onStored: (batch) => {
        stored = true;
        tell({ kind: 'stored', ...batch });
      },
      onTrouble: (trouble) => tell({ kind: 'trouble', ...trouble }),
      onLook: (partitions) => tell({ kind: 'looked', partitions }),
    });
    say.ended(end);
    tell({ kind: 'ended', end });
    failures = stored ? 1 : failures + 1;
    const waitMs = pauseMs(end, failures);
    progress.promise('session', waitMs);
    await clock.sleep(waitMs, signal);
  }
}

/** What no retry will mend: found before anything is opened. */
async function faultOf(connect: ReturnType<typeof hubConnector>): Promise<string | null> {
  try {
    await using _unopened = await connect();
    return null;
  } catch (error) {
    const fault = hubFaultOf(error);
    if (fault === 'secret-unreadable' && error instanceof Error) return error.message;
    if (fault === 'proxy-invalid') return `hub.proxy: ${hubAdviceOf(fault)}`;
    return `hub.connectionString is not a connection string of Event Hubs, or names no hub (${fault})`;
  }
}

function openTrail(path: string): TrailStore | { readonly reason: string } {
  try {
    return openSqliteTrail(path);
  } catch (error) {
    if (error instanceof TrailUnusable) return { reason: error.message };
    throw error;
  }
}
