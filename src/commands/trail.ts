// Which trail a question goes to: the one that `--trail` names, or the one of the consumer's file.
import { openSqliteReader } from '../audit/sqlite-reader.ts';
import type { TrailReader } from '../audit/store.ts';
import { loadConfiguration } from '../config/load.ts';
import { consumerSettings } from '../consumer/settings.ts';
import { type CommandContext, type CommandOptions, textOption } from './command.ts';
import { chosenFile, fileOption } from './program.ts';

/** The options of every command that asks the trail. */
export const trailOptions: CommandOptions = {
  ...fileOption('consumer'),
  trail: {
    type: 'string',
    value: 'PATH',
    description: 'The trail itself, instead of the one that the file names.',
  },
};

/**
 * Opens the trail that the command line chooses, for questions only.
 * @throws ConfigurationError, TrailUnusable
 */
export function openChosenTrail(context: CommandContext): TrailReader {
  const path = textOption(context, 'trail');
  if (path !== undefined) return openSqliteReader(path);
  return openSqliteReader(loadConfiguration(chosenFile(context, 'consumer'), consumerSettings).trail.path);
}
