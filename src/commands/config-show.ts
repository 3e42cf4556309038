// `seb config show`: what a configuration file comes to once every default is in it.
import { loadConfiguration } from '../config/load.ts';
import { defineCommand, textOption } from './command.ts';
import { effectiveText } from './effective-text.ts';
import { chosenProgram, defaultFile, fileOption, programOf, programOption, settingsOf } from './program.ts';

export const configShow = defineCommand({
  name: 'config show',
  summary: 'Prints the effective settings of a configuration file, with secrets hidden.',
  options: { ...fileOption('agent'), ...programOption },
  examples: [{ line: 'config show -c agent.yaml', shows: 'the file with every default filled in, as YAML' }],
  notes: [
    'A secret given as { file: PATH }, { credential: NAME } or { env: NAME } shows its place; one that stands in the file shows as ***.',
  ],
  async run(context) {
    const chosen = chosenProgram(context);
    const path = textOption(context, 'config') ?? defaultFile(chosen ?? 'agent');
    const settings = await settingsOf(chosen ?? programOf(path));
    loadConfiguration(path, settings);
    context.stdout.write(effectiveText(path, settings));
    return 0;
  },
});
