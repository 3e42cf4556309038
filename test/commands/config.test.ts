// Whether the `config` commands say what may stand in a file, and what a file comes to.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCommandLine } from '../support/command-line.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const marker = 'MARKER-OF-A-SECRET';

function fileWith(text: string) {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'settings.yaml');
  writeFileSync(path, text);
  return { path, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

it('prints a JSON Schema that refuses unknown settings and knows every kind of sink', async () => {
  const { exitCode, stdout } = await runCommandLine(['config', 'schema']);
  const schema = JSON.parse(stdout);
  expect(exitCode).toBe(0);
  expect(schema).toMatchObject({
    $schema: expect.stringContaining('json-schema.org'),
    additionalProperties: false,
  });
  const kinds = schema.properties.sinks.additionalProperties.oneOf;
  expect(kinds.map((kind: { title: string }) => kind.title)).toEqual(
    expect.arrayContaining(['file', 'stdout', 'webhook']),
  );
});

it('prints every setting as Markdown', async () => {
  const { exitCode, stdout } = await runCommandLine(['config', 'docs']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('| `imds.pollInterval` | duration, 250ms to 60s | `1s` |');
  expect(stdout).toContain('type: `webhook`');
});

it('shows effective settings that are a valid file again, without a secret', async () => {
  using file = fileWith(`sinks: { hook: { type: webhook, url: "https://x/${marker}", timeout: 5s } }`);
  const { exitCode, stdout, stderr } = await runCommandLine(['config', 'show', '-c', file.path]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).not.toContain(marker);
  const shown = parse(stdout);
  expect(shown).toMatchObject({
    imds: { pollInterval: '1s' },
    sinks: { hook: { url: '***', timeout: '5s' } },
  });
  expect(agentSettings.safeParse(shown).success).toBe(true);
});

it.each(['constructor', 'toString', '__proto__'])(
  'hides a secret that a person has named %s',
  async (name) => {
    const named = `{ "${name}": ${marker} }`;
    const sink = `{ type: webhook, url: ${marker}, headers: ${named}, templateSecrets: ${named}, template: { a: b } }`;
    using file = fileWith(`sinks: { hook: ${sink}, ${name.toLowerCase()}: ${sink} }`);
    const { exitCode, stdout } = await runCommandLine(['config', 'show', '-c', file.path]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('type: webhook');
    expect(stdout).not.toContain(marker);
  },
);

it('shows nothing of what the schema has passed over', async () => {
  using file = fileWith(`sinks: { __proto__: { type: none, url: ${marker} } }`);
  const { exitCode, stdout } = await runCommandLine(['config', 'show', '-c', file.path]);
  expect(exitCode).toBe(0);
  expect(stdout).not.toContain(marker);
});

it('refuses to show a wrong file, and names the place of the fault', async () => {
  using file = fileWith(`imds: { pollIntervall: 1s }`);
  const run = await runCommandLine(['config', 'show', '-c', file.path]);
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.stderr).toContain('imds: there is no setting "pollIntervall" here');
});

it('knows only two programs', async () => {
  const run = await runCommandLine(['config', 'schema', '--program', 'agnet']);
  expect(run).toMatchObject({ exitCode: 2, stderr: 'seb: --program takes agent or consumer, not "agnet"\n' });
});

it.each([
  ['agent', 'imds.pollInterval', '1s'],
  ['consumer', 'hub.consumerGroup', '$Default'],
])('lists the settings of the file in the help of "seb %s"', async (program, key, usual) => {
  const { stdout } = await runCommandLine([program, '--help']);
  const settings = stdout.slice(stdout.indexOf('Settings of the file:'));
  expect(settings).toContain(`\n  ${key} `);
  expect(settings.replaceAll(/\s+/g, ' ')).toContain(`Default ${usual}.`);
});
