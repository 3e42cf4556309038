// What the agent and the consumer have in common as programs: their log, the service manager, and how they end.
import { systemClock } from '../clock.ts';
import { exposedSecrets, plainSecrets } from '../config/secret.ts';
import { type Log, type LogLevel, openLog } from '../log.ts';
import type { Service } from '../service-notify.ts';
import type { CommandContext } from './command.ts';

/** How a program ended. */
export type ProgramEnd = { readonly ok: true } | { readonly ok: false; readonly reason: string };

interface ProgramSettings {
  readonly log: { readonly level: LogLevel };
}

/**
 * Opens the log, warns of secrets in the file, and runs the program to its end.
 * @returns the exit code: 1 with a sentence on standard error when the program could not run
 */
export async function runLongProgram(
  name: string,
  settings: ProgramSettings,
  context: CommandContext,
  run: (log: Log) => Promise<ProgramEnd>,
): Promise<number> {
  return exitCodeOf(await run(openProgramLog(name, settings)), context);
}

/** Opens the log of a program, and warns in it of secrets that others may read. */
export function openProgramLog(name: string, settings: ProgramSettings): Log {
  const log = openLog(name, settings.log.level);
  for (const setting of plainSecrets(settings)) {
    log.warn(
      { setting },
      'a secret stands in the configuration file; { file: PATH } keeps it out of backups',
    );
  }
  for (const setting of exposedSecrets(settings)) {
    log.warn({ setting }, 'every user of this machine may read the file of this secret; chmod o-r keeps it');
  }
  return log;
}

/**
 * Speaks to the service manager, and says that the program stops when it is told to.
 * @returns null when none started this process: then nothing of it is loaded
 */
export async function openProgramService({ signal }: CommandContext): Promise<(Service & Disposable) | null> {
  const { env } = process;
  if (env['NOTIFY_SOCKET'] === undefined && env['LISTEN_FDS'] === undefined) return null;
  const service = (await import('../service-notify.ts')).openService({ env, clock: systemClock });
  if (service === null) return null;
  if (signal.aborted) service.stopping();
  signal.addEventListener('abort', () => service.stopping(), { once: true });
  return service;
}

/** @returns 0, or 1 with a sentence on standard error when the program could not run */
export function exitCodeOf(end: ProgramEnd, { stderr }: CommandContext): number {
  if (end.ok) return 0;
  stderr.write(`seb: ${end.reason}\n`);
  return 1;
}
