// Which trail a question goes to: the one that `--trail` names, or the one of the consumer's file.
import { statSync } from 'node:fs';
import { openTrailReader, openTrailSource } from '../audit/open.ts';
import type { TrailReader, TrailSource } from '../audit/store.ts';
import type { TrailSettings } from '../config/consumer-trail.ts';
import { loadConfiguration } from '../config/load.ts';
import { Secret } from '../config/secret.ts';
import { consumerSettings } from '../consumer/settings.ts';
import { type CommandContext, type CommandOptions, textOption, UsageError } from './command.ts';
import { chosenFile, fileOption } from './program.ts';

const trailOption = (forms: string): CommandOptions[string] => ({
  type: 'string',
  value: 'PATH|URL',
  description: `The trail itself, instead of the one that the file names: ${forms}.`,
});

/** The options of every command that needs the store itself. */
export const trailOptions: CommandOptions = {
  ...fileOption('consumer'),
  trail: trailOption('postgres://… or a SQLite file'),
};

/** The options of every command that a copy of the log will do for, too. */
export const trailOrCopyOptions: CommandOptions = {
  ...fileOption('consumer'),
  trail: trailOption(
    'a SQLite file, postgres://…, an exported folder or the https:// address of a container',
  ),
};

/** A trail that a command line can name: a store, or a copy of its log in plain files. */
export type ChosenTrail =
  | TrailSettings
  | { readonly type: 'folder'; readonly path: string }
  /** The address may end in a signature that gives access, so it is a secret. */
  | { readonly type: 'container'; readonly url: Secret };

/** What `--trail` names. */
function readTrailName(name: string): ChosenTrail {
  // Whatever stands before the @ of a URL, or behind its question mark, gives access.
  const url = new Secret('--trail', () => name);
  if (/^postgres(ql)?:\/\//i.test(name)) return { type: 'postgres', url, identity: false };
  if (/^https?:\/\//i.test(name)) return { type: 'container', url };
  refuseAddress('trail', name, 'a file, a folder, postgres://… or https://…');
  return isFolder(name) ? { type: 'folder', path: name } : { type: 'sqlite', path: name };
}

/**
 * Refuses an address of a kind that is not known: taken for a file, it would be printed with the password in it.
 * @throws UsageError
 */
export function refuseAddress(option: string, name: string, forms: string): void {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(name)) throw new UsageError(`--${option} takes ${forms}`);
}

/** What cannot even be looked at is left to whoever opens it, and has a sentence about that. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * The trail that the command line chooses, in any form.
 * @throws ConfigurationError
 */
export function chosenTrailOrCopy(context: CommandContext): ChosenTrail {
  const name = textOption(context, 'trail');
  if (name !== undefined) return readTrailName(name);
  return loadConfiguration(chosenFile(context, 'consumer'), consumerSettings).trail;
}

/**
 * The store that the command line chooses; a copy in plain files is none.
 * @throws ConfigurationError, UsageError
 */
export function chosenTrail(context: CommandContext): TrailSettings {
  const chosen = chosenTrailOrCopy(context);
  if (chosen.type === 'sqlite' || chosen.type === 'postgres') return chosen;
  throw new UsageError(
    '--trail names a copy of the log, which this command cannot use: give a SQLite file or postgres://…',
  );
}

/**
 * Opens the trail that the command line chooses, for questions only.
 * @throws ConfigurationError, UsageError, TrailUnusable
 */
export const openChosenTrail = async (context: CommandContext): Promise<TrailReader> =>
  openTrailReader(chosenTrail(context));

/**
 * Opens the trail or the copy that the command line chooses, at one moment.
 * @throws ConfigurationError, TrailUnusable
 */
export async function openChosenSource(context: CommandContext): Promise<TrailSource> {
  const chosen = chosenTrailOrCopy(context);
  if (chosen.type === 'folder' || chosen.type === 'container') {
    // Loaded only here: a store needs nothing of it.
    const { openCopySource } = await import('../audit/archive/open.ts');
    return openCopySource(chosen);
  }
  return openTrailSource(chosen);
}
