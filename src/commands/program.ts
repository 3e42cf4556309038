// The two programs that have a configuration file, as commands choose between them.
import type * as z from 'zod';
import { ConfigurationError, readConfiguration } from '../config/load.ts';
import type { SinkSettings } from '../sinks/index.ts';
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
  return await (await import('../consumer/settings.ts')).consumerSettingsFor();
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

/** What sends records, as commands look after it: an agent, or the notices of a consumer. */
export interface Delivering {
  readonly program: ProgramName;
  /** Where its outbox lies. */
  readonly stateDir: string;
  readonly sinks: Readonly<Record<string, SinkSettings>>;
  readonly imdsEndpoint: string;
  /** Who says on which VM it runs; null for a consumer, which speaks for none. */
  readonly vmMetadata: { readonly endpoint: string; readonly apiVersion: string } | null;
}

/**
 * Reads from the file that `-c` names what sends records there: a consumer's file is told by its hub.
 * @throws ConfigurationError
 */
export async function loadDelivering(context: CommandContext): Promise<Delivering> {
  const path = chosenFile(context, 'agent');
  const program = programOf(path);
  if (program === 'agent') {
    const { stateDir, sinks, imds } = await loadAgentSettings(context);
    return { program, stateDir, sinks, imdsEndpoint: imds.endpoint, vmMetadata: imds };
  }
  const { readConsumerSettings } = await import('../consumer/settings.ts');
  const { notify } = await readConsumerSettings(path);
  if (notify === undefined) throw new ConfigurationError(path, ['notify: it sends no notices']);
  const { stateDir, sinks, imds } = notify;
  return { program, stateDir, sinks, imdsEndpoint: imds.endpoint, vmMetadata: null };
}
