// Keeps the agent running through changes of its configuration file: SIGHUP has it read anew.
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type AgentControls, runAgent } from '../agent/agent.ts';
import { type AgentSettings, agentSettingsFor } from '../agent/settings.ts';
import { systemClock } from '../clock.ts';
import { ConfigurationError, readConfiguration, validateConfiguration } from '../config/load.ts';
import type { Log } from '../log.ts';
import type { Service } from '../service-notify.ts';
import type { CommandContext } from './command.ts';
import { exitCodeOf, openProgramLog, openProgramService } from './long-program.ts';

/** A configuration file as it was at one moment, found valid. */
interface Configuration {
  readonly content: unknown;
  readonly settings: AgentSettings;
}

// Several programs may send the signal at the same moment, as logrotate does for each of its files: that is one wish.
const sameWishMs = 100;

/**
 * Runs the agent until it is told to stop. A changed file ends the run softly and begins another in this process:
 * all that matters is on the disk.
 * @returns the exit code
 * @throws ConfigurationError when the file cannot be used at the start; later ones are told in the log
 */
export async function runThroughReloads(path: string, context: CommandContext): Promise<number> {
  const hangups = openHangups(context);
  let current = await readValid(path);
  using service = await openProgramService(context);
  let proven: Configuration | null = null;
  for (let cause: 'start' | 'reload' = 'start'; ; cause = 'reload') {
    const log = openProgramLog('agent', current.settings);
    const reload = openReload(path, current, { log, service });
    hangups.listen(reload.hangup);
    const signal = AbortSignal.any([context.signal, reload.signal]);
    const runtime = { clock: systemClock, log, signal, cause, control: reload.control, service };
    const end = await runAgent(current.settings, runtime);
    const following = end.ok ? reload.next() : proven;
    if (context.signal.aborted || following === null) return exitCodeOf(end, context);
    if (!end.ok)
      log.error({ reason: end.reason }, 'the changed configuration cannot be used: back to the one before');
    proven = end.ok ? current : null;
    current = following;
  }
}

/** What SIGHUP does to one run of the agent. */
interface Reload {
  /** Ends the run, because another one shall begin. */
  readonly signal: AbortSignal;
  readonly control: (controls: AgentControls) => void;
  readonly hangup: () => void;
  /** What to run with next; null while nothing changed. */
  readonly next: () => Configuration | null;
}

interface ReloadRuntime {
  readonly log: Log;
  readonly service: Service | null;
}

function openReload(path: string, running: Configuration, { log, service }: ReloadRuntime): Reload {
  const ending = new AbortController();
  let controls: AgentControls | null = null;
  let next: Configuration | null = null;
  // One signal after the other, because what one finds counts for the next.
  let reading = Promise.resolve();
  const goOn = (remark?: string): void => {
    // A run that is about to end is followed by one that says itself when it is ready.
    if (!ending.signal.aborted) service?.reloaded(remark);
  };
  const end = (): void => {
    log.info({}, 'the configuration file has changed: it is taken up');
    ending.abort();
  };
  const takeUp = async (): Promise<void> => {
    service?.reloading();
    const found = await tryRead(path, log);
    // A run that is about to end has let go of its files, and its sinks are woken by the next.
    const inHand = ending.signal.aborted ? null : controls;
    inHand?.reopen();
    if (found === null) return goOn('the changed configuration file was refused: see the log');
    if (!isDeepStrictEqual(found.content, (next ?? running).content)) {
      const isEnding = next !== null;
      next = found;
      if (!isEnding && !(await endWhenIdle(inHand, end))) log.info({}, waiting);
      return goOn(waiting);
    }
    if (inHand !== null) {
      log.info({}, 'the configuration file is unchanged: files are opened anew, suspended sinks tried again');
      inHand.resume();
    }
    goOn();
  };
  return {
    signal: ending.signal,
    control: (given) => {
      controls = given;
    },
    hangup: () => {
      reading = reading.then(takeUp);
    },
    next: () => next,
  };
}

const waiting = 'the configuration file has changed: it waits for the hook in hand to end';

/** A hook that is in hand is not cut short, and meanwhile the file may change once more. @returns whether none was */
async function endWhenIdle(controls: AgentControls | null, end: () => void): Promise<boolean> {
  const idle = async (): Promise<true> => {
    await controls?.idle();
    end();
    return true;
  };
  return await Promise.race([idle(), setImmediate(false)]);
}

/** @throws ConfigurationError */
async function readValid(path: string): Promise<Configuration> {
  const content = readConfiguration(path);
  return { content, settings: validateConfiguration(content, path, await agentSettingsFor(content)) };
}

/** @returns null for a file that cannot be used; the log says why, one line for each fault */
async function tryRead(path: string, log: Log): Promise<Configuration | null> {
  try {
    return await readValid(path);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    for (const fault of error.faults) {
      log.error({ fault }, 'the configuration file cannot be used: the agent goes on with the one before');
    }
    return null;
  }
}

/** Calls the listener of the run that is going on, once for signals that come together. */
function openHangups({ onHangup, signal }: CommandContext) {
  let listener = (): void => undefined;
  let isWaiting = false;
  const gather = async (): Promise<void> => {
    if (isWaiting) return;
    isWaiting = true;
    await systemClock.sleep(sameWishMs, signal);
    isWaiting = false;
    if (!signal.aborted) listener();
  };
  onHangup?.(() => void gather());
  return {
    listen(to: () => void): void {
      listener = to;
    },
  };
}
