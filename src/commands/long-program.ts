// What the agent and the consumer have in common as programs: their log, a word about secrets, and how they end.
import { plainSecrets } from '../config/secret.ts';
import { type Log, type LogLevel, openLog } from '../log.ts';
import type { CommandContext } from './command.ts';

type End = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Opens the log, warns of secrets in the file, and runs the program to its end.
 * @returns the exit code: 1 with a sentence on standard error when the program could not run
 */
export async function runLongProgram(
  name: string,
  settings: { readonly log: { readonly level: LogLevel } },
  { stderr }: CommandContext,
  run: (log: Log) => Promise<End>,
): Promise<number> {
  const log = openLog(name, settings.log.level);
  for (const setting of plainSecrets(settings)) {
    log.warn(
      { setting },
      'a secret stands in the configuration file; { file: PATH } keeps it out of backups',
    );
  }
  const end = await run(log);
  if (end.ok) return 0;
  stderr.write(`seb: ${end.reason}\n`);
  return 1;
}
