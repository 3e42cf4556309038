// READ FIRST: the program on each VM, in order. IMDS → document → transitions → records → one commit → sinks.
import type { Clock } from '../clock.ts';
import type { Boot } from '../core/impact.ts';
import { deliver } from '../delivery/deliver.ts';
import { openJournal } from '../delivery/journal.ts';
import { lockDirectory } from '../delivery/lock.ts';
import { silentMeters } from '../delivery/meters.ts';
import { Outbox } from '../delivery/outbox/outbox.ts';
import { resumeSuspended } from '../delivery/resume.ts';
import { watchSecrets } from '../delivery/secret-watch.ts';
import { openWake } from '../delivery/wake.ts';
import { openOutboxWatch } from '../delivery/watch-outbox.ts';
import { makeDirectories } from '../directories.ts';
import type { Log } from '../log.ts';
import type { Service } from '../service-notify.ts';
import { loadSinkKinds, type OpenSink } from '../sinks/index.ts';
import { version } from '../version.ts';
import { openPollMark, readBoot } from './host.ts';
import { openImds } from './imds.ts';
import { openObserverSource } from './observer-source.ts';
import { openReactions } from './reactions.ts';
import { heartbeatFacts, selfDraft, startedFacts } from './self-records.ts';
import type { AgentSettings } from './settings.ts';
import { orderlyStop } from './stop.ts';
import { watchEvents } from './watch-events.ts';

/** What the agent takes from the process around it. */
export interface AgentRuntime {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the agent: the attempts in hand are finished, within 7 s, and the events watched until then. */
  readonly signal: AbortSignal;
  /** Why this run begins: `agent.started` says so. */
  readonly cause?: 'start' | 'reload';
  /** Is handed the controls of the running agent; they may be used until `signal` aborts. */
  readonly control?: (controls: AgentControls) => void;
  /** Which boot of the VM this is; asked of the machine unless given. */
  readonly boot?: Boot;
  /** Is told when the agent is ready, and how it stands; nobody when there is no service manager. */
  readonly service?: Service | null;
}

/** What may be asked of a running agent. */
export interface AgentControls {
  /** Lets go of files that may have been rotated away. */
  reopen(): void;
  /** Has suspended sinks try again. */
  resume(): void;
  /** Resolves when no hook is in hand: a changed configuration is taken up only then. */
  idle(): Promise<void>;
}

/** How a run ended. */
export type AgentEnd = { readonly ok: true } | { readonly ok: false; readonly reason: string };

// The first record waits so long for the VM's name; a VM that is about to go cannot wait longer.
const introductionMs = 2_000;
const refreshIntervalMs = 3_600_000;
const pruneIntervalMs = 600_000;
// Late enough to be in nobody's way at the start, and soon enough for an agent that is often started anew.
const firstPruneMs = 5_000;

/**
 * Runs the agent until `signal` aborts. One straight line on purpose: this is the program.
 * @returns why it could not start, or that it ended as asked
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the program in order; nearly every line needs the locals above it.
export async function runAgent(settings: AgentSettings, runtime: AgentRuntime): Promise<AgentEnd> {
  const { clock, log, cause = 'start', service } = runtime;
  await using resources = new AsyncDisposableStack();
  const directory = ownDirectory(settings.stateDir);
  if ('reason' in directory) return { ok: false, reason: directory.reason };
  resources.use(directory);

  const stop = orderlyStop(runtime.signal, clock, log);
  // Loaded only here: an agent without a status page does not pay for one.
  const status = settings.status && (await import('./status.ts')).openStatus(settings, settings.status);
  const meters = status?.meters ?? silentMeters;
  const wake = openWake();
  const { sizeMax, keepDelivered, keepDead } = settings.outbox;
  const limits = { sizeMax, keepDeliveredMs: keepDelivered, keepDeadMs: keepDead };
  const routes = Object.entries(settings.sinks).map(([name, { filter }]) => ({ name, filter }));
  const outbox = resources.use(new Outbox({ directory: settings.stateDir, routes, limits, clock, log }));
  const place = { imdsEndpoint: settings.imds.endpoint, version };
  const kinds = await loadSinkKinds(Object.values(settings.sinks).map(({ type }) => type));
  const sinks = Object.entries(settings.sinks).map(([name, sink]) =>
    kinds.open(name, sink, { ...place, memory: outbox.memoryOf(name) }),
  );

  const boot = runtime.boot ?? readBoot(clock.now());
  const journal = openJournal(outbox, meters, log);
  const mark = resources.use(openPollMark(settings.stateDir));
  const imds = resources.use(openImds(settings.imds));
  const observer = openObserverSource({ imds, outbox, bootId: boot.id, log, signal: stop.watching });

  const announce = async (): Promise<void> => {
    await observer.known(introductionMs);
    const facts = startedFacts(settings, boot.id, outbox, cause);
    journal.commit(null, [selfDraft('started', clock.now(), facts, observer)]);
    wake.ring();
  };
  const announced = announce();
  const outboxWatch = resources.use(openOutboxWatch({ outbox, wake }));
  const dataSinks = sinks.filter(({ policy }) => !policy.supersedes).map(({ name }) => name);
  const reaction = resources.use(
    await openReactions({
      ...{ settings, imds, outbox, journal, observer, boot, wake, clock, log, dataSinks },
      approved: (eventId, deed) => watch.approved(eventId, deed),
      signal: stop.delivering,
    }),
  );
  const tools = { imds, outbox, outboxWatch, journal, observer, mark, wake, meters, clock, log };
  const watch = watchEvents({
    ...tools,
    reaction,
    signal: stop.watching,
    settings,
    bootId: boot.id,
    announced,
  });
  if (service) {
    const { serviceReport } = await import('./service-report.ts');
    const report = () => serviceReport(settings, { outbox, clock, view: watch.view });
    // Before the first poll: its answer may take two minutes, and what is ordered behind the agent waits for this.
    resources.use(service.ready(report, log));
  }
  const beat = (): void => {
    const facts = heartbeatFacts(settings, watch.view(), outbox, clock.now());
    journal.commit(null, [selfDraft('heartbeat', clock.now(), facts, observer)]);
    wake.ring();
  };
  // A sink is closed as soon as its loop has ended, while the watch goes on: letting go of a dead connection takes a while.
  const serve = async (open: OpenSink): Promise<void> => {
    await using _sink = open.sink;
    const signals = { signal: stop.delivering, attemptSignal: stop.attempting };
    await deliver(open, { outbox, wake, meters, clock, log, ...signals });
  };
  const every = async (ms: number, work: () => void | Promise<void>, firstMs = ms): Promise<void> => {
    for (let waitMs = firstMs; ; waitMs = ms) {
      await clock.sleep(waitMs, stop.watching);
      if (stop.watching.aborted) return;
      await work();
    }
  };

  log.info(
    { version, cause, sinks: sinks.map(({ name, type }) => `${name} (${type})`), boot: boot.id },
    'the agent starts',
  );
  const watches = [
    watch.run(),
    announced,
    observer.refresh().then(() => every(refreshIntervalMs, observer.refresh)),
    announced.then(() => every(settings.heartbeatInterval, beat)),
    every(pruneIntervalMs, () => outbox.prune(), firstPruneMs),
    watchSecrets(settings.sinks, { outbox, wake, clock, log, signal: stop.delivering }),
  ];
  if (status) watches.push(status.serve({ outbox, clock, log, view: watch.view, signal: stop.watching }));
  runtime.control?.({
    reopen: () => {
      for (const { sink } of sinks) sink.reopen?.();
    },
    resume: () => void resumeSuspended(Object.keys(settings.sinks), 'SIGHUP', { outbox, wake, clock, log }),
    idle: () => reaction.idle(),
  });
  await stop.allOrNone({ watches, deliveries: sinks.map(serve) });
  log.info({}, 'the agent stops');
  return { ok: true };
}

function ownDirectory(path: string): Disposable | { readonly reason: string } {
  try {
    makeDirectories(path, 0o700);
    return lockDirectory(path) ?? { reason: `another agent already uses ${path} (stateDir); stop it first` };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return {
      reason: `${path} (stateDir) cannot be used (${code}); make it a directory this user may write to`,
    };
  }
}
