// READ FIRST: the program that keeps the trail, in order. Hub → batch → one commit → trail, session after session.
import { openTrail, openTrailSource } from '../audit/open.ts';
import { openSigner, type Signer, SigningUnusable } from '../audit/signing.ts';
import { type TrailStore, TrailUnusable } from '../audit/store.ts';
import type { BlobReason } from '../blobs/fault.ts';
import type { Clock } from '../clock.ts';
import { ownHubSentence, sinksOfOwnHub } from '../config/own-hub.ts';
import type { MeasuredAttempt, MeasuredSettlement } from '../delivery/meters.ts';
import type { Log } from '../log.ts';
import type { Service } from '../service-notify.ts';
import { openAnchors } from './anchors/registry.ts';
import { type HubDescription, hubConnector } from './hub.ts';
import { hubAdviceOf } from './hub-advice.ts';
import { type HubFault, hubFaultOf } from './hub-fault.ts';
import { newInstance } from './instance.ts';
import { type KeepingNews, openKeeping } from './keeping.ts';
import { openNotices } from './notify/open.ts';
import type { Owners } from './partition-claims.ts';
import type { StoredBatch, Trouble } from './partition-feed.ts';
import { openProgress } from './progress.ts';
import { serviceReport } from './service-report.ts';
import type { SessionEnd } from './session.ts';
import { readSessions, type ShareRuntime } from './sessions.ts';
import type { ConsumerSettings } from './settings.ts';
import { openStanding, type Standing } from './standing.ts';
import type { PartitionLook } from './watchdog.ts';

/** What the consumer tells the program around it, as it happens. */
export type ConsumerProgress =
  | { readonly kind: 'reading'; readonly hub: HubDescription }
  | ({ readonly kind: 'stored' } & StoredBatch)
  | ({ readonly kind: 'trouble' } & Trouble)
  | { readonly kind: 'looked'; readonly partitions: readonly PartitionLook[] }
  /** Why one partition brings nothing while the others do; null when it does again. */
  | { readonly kind: 'partition-fault'; readonly partition: string; readonly fault: HubFault | null }
  /** Who reads what, of a hub that several share; `instance` is this consumer. */
  | { readonly kind: 'owners'; readonly instance: string; readonly owners: Owners }
  /** Why it is not known who reads what; null when it is. */
  | { readonly kind: 'ownership-fault'; readonly reason: BlobReason | null }
  | { readonly kind: 'ended'; readonly end: SessionEnd }
  /** One attempt to deliver a notice, and the end of its way. */
  | ({ readonly kind: 'notice-attempt' } & MeasuredAttempt)
  | ({ readonly kind: 'notice-settled' } & MeasuredSettlement)
  | KeepingNews;

/** What the consumer takes from the process around it. */
export interface ConsumerRuntime {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the consumer after the batches in hand, and a last seal, within 10 s. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: ConsumerProgress) => void;
  /** Is told when the consumer is ready, and how it stands; nobody when there is no service manager. */
  readonly service?: Service | null;
  /** How often the connection is doubted, ms. */
  readonly watchIntervalMs?: number;
  /** Events that one partition may send ahead before its connection is made anew. */
  readonly creditMax?: number;
  /** How partitions are shared, where that is not for the settings to say. */
  readonly share?: ShareRuntime;
  /** SHA-256 in hex over the effective settings without their secrets, where somebody knows it. */
  readonly settingsSha256?: string;
}

/** How a run ended. */
export type ConsumerEnd = { readonly ok: true } | { readonly ok: false; readonly reason: string };

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
  const unusable = (await faultOf(connect)) ?? ownHubFault(settings);
  if (unusable !== null) return { ok: false, reason: unusable };
  const opened = await opening(settings, clock);
  if ('reason' in opened) return { ok: false, reason: opened.reason };
  await using trail = opened.trail;

  const [progress, standing] = [openProgress(clock), openStanding(clock)];
  const instance = newInstance();
  // Loaded only here: a consumer without a status page does not pay for one.
  const status = settings.status && (await import('./status.ts')).openStatus(settings.status);
  const tell = (news: ConsumerProgress): void => {
    standing.take(news);
    status?.take(news);
    if (news.kind === 'stored') notices?.stored();
    runtime.onProgress?.(news);
  };
  const telling = { settings, trail, instance, clock, log, tell, standing: standing.now };
  const notices = await openNotices(telling);
  const now = (): Standing => ({ ...standing.now(), notices: notices?.standing() ?? null });
  const { lateMs } = progress;
  const served = status?.serve({ standing: now, lateMs, clock, log, signal });
  // Before the hub is reached: that may take long, and what is ordered behind the consumer waits for this.
  using _told = runtime.service?.ready(() => serviceReport(now(), lateMs()), log);
  await using anchors = await openAnchors(settings.anchors);
  const { keys = [] } = opened.signer ?? {};
  const keeping = openKeeping({
    ...{ trail, instance, keys, anchors: anchors.all, clock, log, progress, tell, signal },
    archive: settings.archive
      ? { settings: settings.archive, openSource: () => openTrailSource(settings.trail) }
      : null,
    settingsSha256: runtime.settingsSha256 ?? null,
  });
  // What is signed from here on must not contradict what the anchors hold.
  await keeping.begin();
  const shared = { checkpoints: settings.checkpoints, addFact: keeping.addFact };
  const reading = { ...runtime, ...shared, instance, connect, trail, progress, tell };
  await keeping.beside(async () => {
    await Promise.all([readSessions(reading), notices?.run(signal)]);
  });
  await served;
  return { ok: true };
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

/** A sink that would bring the notices back to this consumer. */
function ownHubFault({ hub, notify }: ConsumerSettings): string | null {
  const [name] = sinksOfOwnHub(hub, notify?.sinks ?? {});
  return name === undefined ? null : `notify.sinks.${name}: ${ownHubSentence}`;
}

/** The keys and the trail that they sign. */
async function opening(
  { trail, signing }: ConsumerSettings,
  { now }: Clock,
): Promise<{ readonly trail: TrailStore; readonly signer: Signer | null } | { readonly reason: string }> {
  try {
    const signer = signing === undefined ? null : openSigner([signing.keyFile, ...signing.alsoKeyFiles]);
    return { signer, trail: await openTrail(trail, { sign: signer?.sign ?? null, now }) };
  } catch (error) {
    if (error instanceof TrailUnusable || error instanceof SigningUnusable) return { reason: error.message };
    throw error;
  }
}
