// `seb config schema`: what a configuration file may say, for editors and other programs.
import { jsonSchemaOf } from '../config/json-schema.ts';
import { defineCommand } from './command.ts';
import { chosenProgram, programOnlyOption, settingsOf } from './program.ts';

export const configSchema = defineCommand({
  name: 'config schema',
  summary: 'Prints the JSON Schema of a configuration file.',
  options: programOnlyOption,
  examples: [
    { line: 'config schema > agent.schema.json', shows: 'a schema that editors check agent.yaml against' },
    { line: 'config schema --program consumer', shows: 'the same for consumer.yaml' },
  ],
  async run(context) {
    const schema = jsonSchemaOf(await settingsOf(chosenProgram(context) ?? 'agent'));
    context.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
    return 0;
  },
});
