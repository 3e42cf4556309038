// Writes docs/configuration.md from the schema that validates configuration files, from that of records docs/schema
// and the workflow of the relay, and from the tables of a trail the script for PostgreSQL.
import { writeFileSync } from 'node:fs';
import { trailScript } from '../src/audit/postgres/roles.ts';
import { settingsPage } from '../src/commands/config-docs.ts';
import { recordSchemas } from '../src/core/record-schema.ts';
import { workflowDefinition } from './relay/workflow.ts';

const page = new URL('../docs/configuration.md', import.meta.url);
const schemas = new URL('../docs/schema/', import.meta.url);
const postgres = new URL('../infra/postgres/trail.sql', import.meta.url);
const workflow = new URL('../bicep/relay/workflow.json', import.meta.url);

const introduction = `# Configuration

Made by \`npm run docs\` from the schema that checks the files; \`seb config docs\` prints the same.

One YAML file (JSON is YAML) per program, named with \`-c FILE\`; without it, \`agent.yaml\` or \`consumer.yaml\` in \`/etc/scheduled-events-bridge\`. A setting that is not listed here is an error, not a no-op.

- A duration is a number with \`ms\`, \`s\`, \`m\`, \`h\` or \`d\`; a size is a number with \`B\`, \`KiB\`, \`MiB\` or \`GiB\`.
- A secret is \`{ file: PATH }\`, \`{ credential: NAME }\`, \`{ env: NAME }\` or a plain string. A file is read anew for each use, so a rotated secret counts without a restart. A credential is what systemd hands to the service (\`LoadCredential=\`); the packaged services hand over every file in /etc/scheduled-events-bridge/credentials, and outside of a service it is read from there. A plain string works and earns a warning.
- \`<name>\` stands for a name of your choice.
`;

/** The page as it should be. */
export async function configurationPage(): Promise<string> {
  return [introduction, await settingsPage('agent'), await settingsPage('consumer')].join('\n');
}

/** The schemas as they should be, by file name. */
export const schemaFiles = (): readonly (readonly [string, string])[] =>
  Object.entries(recordSchemas()).map(([name, schema]) => [name, `${JSON.stringify(schema, null, 2)}\n`]);

/** The workflow of the relay as it should be. */
export const workflowFile = (): string => `${JSON.stringify(workflowDefinition(), null, 2)}\n`;

if (import.meta.main) {
  writeFileSync(page, await configurationPage());
  for (const [name, text] of schemaFiles()) writeFileSync(new URL(name, schemas), text);
  writeFileSync(workflow, workflowFile());
  writeFileSync(postgres, trailScript());
}
