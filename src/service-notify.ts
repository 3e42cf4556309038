// Tells the service manager how the program stands: ready, reloading, stopping, a line of status, and that it lives.
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { openServiceChannel, type ServiceMessage, takeServiceEnvironment } from './service-channel.ts';

/** How the program stands at this moment. */
export interface ServiceReport {
  /** Whether the loop that must never stall keeps its promise of progress. */
  readonly alive: boolean;
  /** One line for `systemctl status`, of what changes seldom. */
  readonly status: string;
}

/** What the program tells of its life. */
export interface Service {
  /**
   * The program does its work from now on, until what is returned is disposed of: it is asked for a report again and
   * again, and the watchdog hears of it only while the report says that it is alive.
   */
  ready(report: () => ServiceReport, log: Log): Disposable;
  /** The configuration is read anew: followed by `reloaded`, or by `ready` of the next run. */
  reloading(): void;
  /** The run goes on as it was. @param remark what is to be said of that, until the next time */
  reloaded(remark?: string): void;
  stopping(): void;
}

export interface ServiceOptions {
  /** Of the process: what is read from it is taken out of it. */
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Of systemd, for where no descriptor was passed. */
  readonly program?: string | undefined;
  /** How long that may take, ms. */
  readonly programMsMax?: number | undefined;
}

// Between two runs, and at the end, nobody reports: the whole stop of a run has 10 s, and a start takes less.
const silenceMsMax = 30_000;
const lookMsMax = 5_000;
const statusLengthMax = 200;

/** Everything that is remembered between two looks. */
interface Memory {
  run: { readonly report: () => ServiceReport; readonly log: Log } | null;
  /** When the last run ended, by the monotonic clock. */
  silentSince: number;
  wasReady: boolean;
  isStopping: boolean;
  wasAlive: boolean;
  remark: string;
  said: string;
  pingedAt: number;
  fault: string | null;
}

/**
 * Speaks to the service manager that started the process. Protocol: sd_notify(3), sd_watchdog_enabled(3).
 * @returns null when none did
 */
export function openService(options: ServiceOptions): (Service & Disposable) | null {
  const { env, clock, program, programMsMax } = options;
  const environment = takeServiceEnvironment(env);
  const memory = freshMemory(clock.monotonic());
  const onOutcome = (fault: string | null): void => tellFault(memory, fault);
  const channel = openServiceChannel({ environment, onOutcome, program, programMsMax });
  if (channel === null) return null;
  const { say } = channel;
  const ended = new AbortController();
  const pingMsMax = pingInterval(environment['WATCHDOG_USEC'], environment['WATCHDOG_PID']);
  void look({ memory, clock, say, pingMsMax, signal: ended.signal });
  return { ...spokesman(memory, clock, untilTheStop(memory, say)), [Symbol.dispose]: () => ended.abort() };
}

type Say = (message: ServiceMessage) => void;

/** After the stop was told, nothing is told that would take it back: a hangup or the end of a start may come late. */
function untilTheStop(memory: Memory, say: Say): Say {
  return (message) => {
    if (!memory.isStopping) say(message);
  };
}

const spokesman = (memory: Memory, clock: Clock, say: Say): Service => ({
  ready: (report, log) => {
    const run = { report, log };
    Object.assign(memory, { run, wasReady: true, wasAlive: true, remark: '', said: statusOf(report(), '') });
    say({ READY: '1', STATUS: memory.said });
    return {
      [Symbol.dispose]: () => {
        if (memory.run === run) Object.assign(memory, { run: null, silentSince: clock.monotonic() });
      },
    };
  },
  reloading: () => {
    // Before it is ready, a program that says so would be ready as soon as it has reloaded.
    if (memory.wasReady) say({ RELOADING: '1', MONOTONIC_USEC: monotonicUsec() });
  },
  reloaded: (remark = '') => {
    memory.remark = remark;
    if (memory.wasReady) say({ READY: '1' });
  },
  stopping: () => {
    say({ STOPPING: '1', STATUS: 'stopping' });
    memory.isStopping = true;
  },
});

const freshMemory = (now: number): Memory => ({
  run: null,
  silentSince: now,
  wasReady: false,
  isStopping: false,
  wasAlive: true,
  remark: '',
  said: '',
  pingedAt: now,
  fault: null,
});

/** CLOCK_MONOTONIC in µs: the manager compares it with its own. */
const monotonicUsec = (): string => String(process.hrtime.bigint() / 1_000n);

/** A third of what the watchdog allows, ms; null when nobody watches this process. */
function pingInterval(usec: string | undefined, pid: string | undefined): number | null {
  const allowedUsec = Number(usec ?? 0);
  const isMeant = pid === undefined || pid === String(process.pid);
  return isMeant && Number.isFinite(allowedUsec) && allowedUsec > 0 ? allowedUsec / 3_000 : null;
}

interface Watch {
  readonly memory: Memory;
  readonly clock: Clock;
  readonly say: Say;
  readonly pingMsMax: number | null;
  readonly signal: AbortSignal;
}

/** Looks often enough to ping in time, and says what is new. */
async function look(watch: Watch): Promise<void> {
  const { clock, pingMsMax, signal, memory, say } = watch;
  const lookMs = Math.min(lookMsMax, (pingMsMax ?? Number.POSITIVE_INFINITY) / 2);
  let wasFrozen = false;
  while (!signal.aborted) {
    const sinceMs = clock.monotonic();
    await clock.sleep(lookMs, signal);
    if (signal.aborted) return;
    // On a VM that was frozen nobody could go on: whoever is late for that has a turn first. Twice is no excuse.
    wasFrozen = !wasFrozen && clock.monotonic() - sinceMs > 2 * lookMs;
    const { alive, status } = wasFrozen ? { alive: memory.wasAlive, status: memory.said } : reportOf(watch);
    const news: Record<string, string> = {};
    // Waiting for the next look would be too long.
    if (alive && pingMsMax !== null && clock.monotonic() - memory.pingedAt + lookMs > pingMsMax * 0.99) {
      news['WATCHDOG'] = '1';
      memory.pingedAt = clock.monotonic();
    }
    if (status !== memory.said && !memory.isStopping) news['STATUS'] = status;
    memory.said = status;
    if (Object.keys(news).length > 0) say(news);
  }
}

function reportOf({ memory, clock }: Watch): ServiceReport {
  const { run, silentSince, said, remark } = memory;
  if (run === null) return { alive: clock.monotonic() - silentSince <= silenceMsMax, status: said };
  const report = run.report();
  if (report.alive !== memory.wasAlive) {
    if (report.alive) run.log.info({}, 'the program makes progress again: its watchdog hears of it');
    else run.log.error({ status: report.status }, 'the program is stuck: its watchdog no longer hears of it');
  }
  memory.wasAlive = report.alive;
  return { alive: report.alive, status: statusOf(report, remark) };
}

/** A line break would begin another assignment, and what stands in it may come from outside. */
function statusOf({ status }: ServiceReport, remark: string): string {
  const line = remark === '' ? status : `${status}; ${remark}`;
  return line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, statusLengthMax);
}

function tellFault(memory: Memory, fault: string | null): void {
  if (memory.fault === fault) return;
  memory.fault = fault;
  if (fault === null)
    memory.run?.log.info({}, 'the service manager can be told again how the program stands');
  else memory.run?.log.warn({ fault }, 'the service manager cannot be told how the program stands');
}
