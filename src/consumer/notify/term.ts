// One term of the notices, in order: outbox, sinks, the place to go on from; then all loops until it is over.
import type { Lease, TrailReader, TrailStore } from '../../audit/store.ts';
import type { Clock } from '../../clock.ts';
import { deliver } from '../../delivery/deliver.ts';
import type { Meters } from '../../delivery/meters.ts';
import { Outbox } from '../../delivery/outbox/outbox.ts';
import { keepReceipts } from '../../delivery/outbox/receipts.ts';
import { watchSecrets } from '../../delivery/secret-watch.ts';
import { openWake } from '../../delivery/wake.ts';
import { openOutboxWatch } from '../../delivery/watch-outbox.ts';
import type { Log } from '../../log.ts';
import { loadSinkKinds, type OpenSink } from '../../sinks/index.ts';
import { version } from '../../version.ts';
import { within } from '../limit.ts';
import type { NotifySettings } from '../settings.ts';
import { type Beginning, begin } from './beginning.ts';
import { type Bell, openBell } from './bell.ts';
import { rememberedMs } from './facts.ts';
import { followTrail } from './reading.ts';
import { journalReceipts } from './receipts.ts';
import { watchSilence } from './silence-watch.ts';
import type { TermBook } from './standing.ts';
import { type NoticeStop, openNoticeStop } from './stop.ts';

/** Opens the trail for questions. */
export type OpenReader = () => Promise<TrailReader>;

export interface TermOptions {
  readonly settings: NotifySettings;
  readonly trail: TrailStore;
  readonly openReader: OpenReader;
  readonly instance: string;
  readonly book: TermBook;
  readonly meters: Meters;
  /** Is rung when something was stored here. */
  readonly bell: Bell;
  /** Whether all that the fleet says arrives in the trail now. */
  readonly isHearing: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the term: what is in hand is finished. */
  readonly signal: AbortSignal;
}

/** What the loops of a term work with. */
interface Term extends TermOptions, Beginning {
  readonly outbox: Outbox;
  readonly sinks: readonly OpenSink[];
  readonly stop: NoticeStop;
}

const accountMs = 5_000;
const pruneMs = 600_000;
const lastWordsMs = 1_000;
const never = new AbortController().signal;

/** Sends notices until the signal aborts or the lease is lost. */
export async function serveTerm(options: TermOptions, lease: Lease): Promise<void> {
  const { settings, clock, log, book, trail } = options;
  using outbox = openOutbox(options);
  using _looked = lookAt(book, outbox);
  const stop = openNoticeStop(options.signal, lease.lost, clock);
  const sinks = await openSinks(settings, outbox);
  const begun = await begin({ ...options, outbox, sinks }, stop.delivering);
  if (begun === null) return await closeAll(sinks);
  Object.assign(book, { role: 'leading', fault: null });
  log.info({ sinks: sinks.map(({ name, type }) => `${name} (${type})`) }, 'notices are sent from here');
  const isOver = await runLoops({ ...options, ...begun, outbox, sinks, stop });
  if (!isOver) log.warn({}, 'a sink did not let go in time; what it had in hand is sent again');
  if (lease.lost.aborted)
    return log.warn({}, 'the lead in sending notices is lost: another instance may have it');
  await within(clock, lastWordsMs, never, async () => {
    await journalReceipts(trail, outbox);
    await begun.positions.write({ isLast: true });
  });
}

function openOutbox({ settings, clock, log }: TermOptions): Outbox {
  const { sizeMax, keepDelivered, keepDead } = settings.outbox;
  return new Outbox({
    directory: settings.stateDir,
    routes: Object.entries(settings.sinks).map(([name, { filter }]) => ({ name, filter })),
    limits: { sizeMax, keepDeliveredMs: keepDelivered, keepDeadMs: keepDead, keepSaidMs: rememberedMs },
    prepare: keepReceipts,
    ...{ clock, log },
  });
}

function lookAt(book: TermBook, outbox: Outbox): Disposable {
  book.look = () => {
    const queues = outbox.queues();
    return { queues: queues.ok ? queues.value : null, outbox: outbox.health() };
  };
  return {
    [Symbol.dispose]: () => {
      book.look = null;
    },
  };
}

async function openSinks({ sinks, imds }: NotifySettings, outbox: Outbox): Promise<readonly OpenSink[]> {
  const kinds = await loadSinkKinds(Object.values(sinks).map(({ type }) => type));
  return Object.entries(sinks).map(([name, sink]) =>
    kinds.open(name, sink, { imdsEndpoint: imds.endpoint, version, memory: outbox.memoryOf(name) }),
  );
}

/** Of a term that never began: otherwise each loop closes its own. */
async function closeAll(sinks: readonly OpenSink[]): Promise<void> {
  await Promise.all(sinks.map(({ sink }) => sink[Symbol.asyncDispose]()));
}

/** @returns whether all of them ended in time */
async function runLoops(term: Term): Promise<boolean> {
  const { outbox, stop, settings, meters, clock, log } = term;
  const signal = stop.delivering;
  const wake = openWake();
  using _watch = openOutboxWatch({ outbox, wake });
  const settled = openBell(clock);
  const counting: Meters = {
    ...meters,
    settled: (measured) => {
      meters.settled(measured);
      settled.ring();
    },
  };
  const lane = { outbox, wake, meters: counting, clock, log, signal, attemptSignal: stop.attempting };
  const looking = { ...term, ring: () => wake.ring() };
  return await stop.all([
    ...term.sinks.map((open) => serve(open, lane)),
    followTrail(looking, signal),
    watchSilence({ ...looking, intervalMs: settings.silenceInterval }, signal),
    keepAccount(term, settled),
    pruneNowAndThen(term),
    watchSecrets(settings.sinks, { outbox, wake, clock, log, signal }),
  ]);
}

/** A sink is closed as soon as its loop has ended. */
async function serve(open: OpenSink, lane: Parameters<typeof deliver>[1]): Promise<void> {
  await using _sink = open.sink;
  await deliver(open, lane);
}

/** Receipts first: a position says that everything before it is accounted for. */
async function keepAccount({ trail, outbox, positions, clock, stop }: Term, settled: Bell): Promise<void> {
  const signal = stop.delivering;
  while (!signal.aborted) {
    if (await journalReceipts(trail, outbox)) await positions.write();
    await settled.wait(accountMs, signal);
    // What settles within a moment is journaled together.
    await clock.sleep(accountPauseMs, signal);
  }
}

const accountPauseMs = 200;

async function pruneNowAndThen({ outbox, clock, stop }: Term): Promise<void> {
  while (!stop.delivering.aborted) {
    outbox.prune();
    await clock.sleep(pruneMs, stop.delivering);
  }
}
