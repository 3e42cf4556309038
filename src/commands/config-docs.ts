// `seb config docs`: every setting with its values, default and meaning, as Markdown.
import { describe, settingsMarkdown } from '../config/describe.ts';
import { jsonSchemaOf } from '../config/json-schema.ts';
import { defineCommand } from './command.ts';
import { chosenProgram, type ProgramName, programOnlyOption, settingsOf } from './program.ts';

/** The Markdown of one program's settings. */
export async function settingsPage(program: ProgramName): Promise<string> {
  return settingsMarkdown(describe(`${program}.yaml`, jsonSchemaOf(await settingsOf(program))));
}

export const configDocs = defineCommand({
  name: 'config docs',
  summary: 'Prints every setting of a configuration file as Markdown.',
  options: programOnlyOption,
  examples: [{ line: 'config docs', shows: 'the settings of the agent and of each kind of sink' }],
  async run(context) {
    context.stdout.write(await settingsPage(chosenProgram(context) ?? 'agent'));
    return 0;
  },
});
