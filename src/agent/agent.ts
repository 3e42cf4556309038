// READ FIRST: the program on each VM, in order. IMDS → document → transitions → records → one commit → sinks.
import { mkdirSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { openSink } from '../sinks/index.ts';
import { version } from '../version.ts';
import { deliver } from './deliver.ts';
import { bootId, openPollMark } from './host.ts';
import { openImds } from './imds.ts';
import { openJournal } from './journal.ts';
import { lockDirectory } from './lock.ts';
import { silentMeters } from './meters.ts';
import { openObserverSource } from './observer-source.ts';
import { Outbox } from './outbox/outbox.ts';
import { heartbeatFacts, selfDraft, startedFacts } from './self-records.ts';
import type { AgentSettings } from './settings.ts';
import { openWake } from './wake.ts';
import { watchEvents } from './watch-events.ts';

/** What the agent takes from the process around it. */
export interface AgentRuntime {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the agent: the attempts in hand are finished, within 7 s. */
  readonly signal: AbortSignal;
  /** Calls back when log files were rotated (SIGHUP). */
  readonly onReopen?: (reopen: () => void) => void;
}

/** How a run ended. */
export type AgentEnd = { readonly ok: true } | { readonly ok: false; readonly reason: string };

// The first record waits so long for the VM's name; a VM that is about to go cannot wait longer.
const introductionMs = 2_000;
const attemptGraceMs = 7_000;
const refreshIntervalMs = 3_600_000;
const pruneIntervalMs = 600_000;

/**
 * Runs the agent until `signal` aborts. One straight line on purpose: this is the program.
 * @returns why it could not start, or that it ended as asked
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the program in order; nearly every line needs the locals above it.
export async function runAgent(settings: AgentSettings, runtime: AgentRuntime): Promise<AgentEnd> {
  const { clock, log } = runtime;
  await using resources = new AsyncDisposableStack();
  const directory = ownDirectory(settings.stateDir);
  if ('reason' in directory) return { ok: false, reason: directory.reason };
  resources.use(directory);

  const stopping = stopSignals(runtime.signal);
  const { signal } = stopping;
  const { sizeMax, keepDelivered, keepDead } = settings.outbox;
  const limits = { sizeMax, keepDeliveredMs: keepDelivered, keepDeadMs: keepDead };
  const routes = Object.entries(settings.sinks).map(([name, { filter }]) => ({ name, filter }));
  const outbox = resources.use(new Outbox({ directory: settings.stateDir, routes, limits, clock, log }));
  const place = { imdsEndpoint: settings.imds.endpoint, version };
  const sinks = Object.entries(settings.sinks).map(([name, sink]) =>
    openSink(name, sink, { ...place, memory: outbox.memoryOf(name) }),
  );
  // Side by side: each may take a while to let go of a dead connection, and all of it has 10 s.
  resources.defer(async () => {
    await Promise.all(sinks.map(({ sink }) => sink[Symbol.asyncDispose]()));
  });
  runtime.onReopen?.(() => {
    for (const { sink } of sinks) sink.reopen?.();
  });

  const boot = bootId(clock.now());
  const journal = openJournal(outbox, log);
  const mark = resources.use(openPollMark(settings.stateDir));
  const imds = resources.use(openImds(settings.imds));
  const observer = openObserverSource({ imds, outbox, bootId: boot, log, signal });
  const wake = openWake();

  const announce = async (): Promise<void> => {
    await observer.known(introductionMs);
    journal.commit(null, [selfDraft('started', clock.now(), startedFacts(settings, boot, outbox), observer)]);
    wake.ring();
  };
  const announced = announce();
  const tools = { imds, outbox, journal, observer, mark, wake, clock, log, signal };
  const watch = watchEvents({ ...tools, settings, bootId: boot, announced });
  const beat = (): void => {
    const facts = heartbeatFacts(watch.view(), outbox, clock.now());
    journal.commit(null, [selfDraft('heartbeat', clock.now(), facts, observer)]);
    wake.ring();
  };
  const every = async (ms: number, work: () => void | Promise<void>): Promise<void> => {
    for (;;) {
      await clock.sleep(ms, signal);
      if (signal.aborted) return;
      await work();
    }
  };

  log.info({ version, sinks: sinks.map(({ name, type }) => `${name} (${type})`), boot }, 'the agent starts');
  const loops = [
    watch.run(),
    announced,
    observer.refresh().then(() => every(refreshIntervalMs, observer.refresh)),
    announced.then(() => every(settings.heartbeatInterval, beat)),
    every(pruneIntervalMs, () => outbox.prune()),
    ...sinks.map((open) =>
      deliver(open, {
        ...{ outbox, wake, clock, log, signal, attemptSignal: stopping.attemptSignal },
        meters: silentMeters,
      }),
    ),
  ];
  await stopping.allOrNone(loops);
  log.info({}, 'the agent stops');
  return { ok: true };
}

function ownDirectory(path: string): Disposable | { readonly reason: string } {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return lockDirectory(path) ?? { reason: `another agent already uses ${path} (stateDir); stop it first` };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return {
      reason: `${path} (stateDir) cannot be used (${code}); make it a directory this user may write to`,
    };
  }
}

/** Two signals out of one: stop after the attempt in hand, and, a while later, stop that as well. */
function stopSignals(signal: AbortSignal) {
  const stop = new AbortController();
  const stopAttempts = new AbortController();
  const end = (): void => {
    stop.abort();
    setTimeout(() => stopAttempts.abort(), attemptGraceMs).unref();
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return {
    signal: stop.signal,
    attemptSignal: stopAttempts.signal,
    /** Waits for all loops; one that fails is a bug and ends the others, so that nobody watches half of it. */
    async allOrNone(loops: readonly Promise<void>[]): Promise<void> {
      const ends = loops.map((loop) =>
        loop.catch((error: unknown) => {
          end();
          throw error;
        }),
      );
      const results = await Promise.allSettled(ends);
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
  };
}
