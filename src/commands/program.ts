// The two programs that have a configuration file, as commands choose between them.
import type * as z from 'zod';
import { readConfiguration } from '../config/load.ts';
import { type CommandContext, type CommandOptions, textOption, UsageError } from './command.ts';

export type ProgramName = 'agent' | 'consumer';

/** Where a program looks for its file when `-c` does not say. */
export const defaultFile = (program: ProgramName): string => `/etc/scheduled-events-bridge/${program}.yaml`;

/** `-c FILE` for a command that serves one program. */
export const fileOption = (program: ProgramName): CommandOptions => ({
  config: {
    type: 'string',
    short: 'c',
    value: 'FILE',
    description: `Configuration file; default ${defaultFile(program)}.`,
  },
});

const programNamed = (description: string): CommandOptions => ({
  program: { type: 'string', value: 'NAME', description },
});

/** Of a command that reads a file. */
export const programOption = programNamed(
  'Whose settings: agent or consumer. Told from the file when there is one, else agent.',
);

/** Of a command that reads none. */
export const programOnlyOption = programNamed('Whose settings: agent, the default, or consumer.');

/** The file that `-c` names, or where the program's file usually is. */
export const chosenFile = (context: CommandContext, program: ProgramName): string =>
  textOption(context, 'config') ?? defaultFile(program);

/**
 * The program that `--program` names.
 * @throws UsageError when there is no such program
 */
export function chosenProgram(context: CommandContext): ProgramName | undefined {
  const name = textOption(context, 'program');
  if (name === undefined || name === 'agent' || name === 'consumer') return name;
  throw new UsageError(`--program takes agent or consumer, not "${name}"`);
}

/** The program a file is for: only a consumer's names a hub. */
export function programOf(path: string): ProgramName {
  const content = readConfiguration(path);
  return typeof content === 'object' && content !== null && 'hub' in content ? 'consumer' : 'agent';
}

/** Loads the schema of a program's file, and with it the settings of every sink. */
export async function settingsOf(program: ProgramName): Promise<z.ZodType> {
  if (program === 'agent') return await (await import('../agent/settings.ts')).agentSettingsFor();
  return (await import('../consumer/settings.ts')).consumerSettings;
}

/** The settings of a program's file but those of each kind of sink, as `--help` shows them. */
export async function settingsHelp(program: ProgramName): Promise<[key: string, text: string][]> {
  const { describe } = await import('../config/describe.ts');
  const { jsonSchemaOf } = await import('../config/json-schema.ts');
  const [file] = describe(program, jsonSchemaOf(await settingsOf(program)));
  return (file?.rows ?? [])
    .filter(({ type }) => type !== 'settings')
    .map((row) => {
      const usual = row.default === undefined ? '' : ` Default ${row.default}.`;
      return [row.key, `${row.description === '' ? row.type : row.description}${usual}`];
    });
}

/**
 * Reads the agent's settings from the file that `-c` names.
 * @throws ConfigurationError
 */
export async function loadAgentSettings(context: CommandContext) {
  const { readAgentSettings } = await import('../agent/settings.ts');
  return await readAgentSettings(chosenFile(context, 'agent'));
}
