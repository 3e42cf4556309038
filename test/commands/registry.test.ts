// Whether the registry says of every command what the command says of itself.
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { registry } from '../../src/commands/registry.ts';
import { runCommandLine } from '../support/command-line.ts';

it.each(registry.map((line) => [line.name, line] as const))(
  'has the name and the summary of "%s" as its file has them',
  async (_, line) => {
    const command = await line.load();
    expect({ name: line.name, summary: line.summary }).toEqual({
      name: command.name,
      summary: command.summary,
    });
  },
);

it.each(registry.map(({ name }) => name))('has help with an example for "%s"', async (name) => {
  const { exitCode, stdout } = await runCommandLine([...name.split(' '), '--help']);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(`Usage: seb ${name}`);
  expect(stdout).toContain(`\nExamples:\n  seb ${name}`);
});

it('has a line for every file that defines a command', async () => {
  const folder = new URL('../../src/commands/', import.meta.url);
  const defined: string[] = [];
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const exported = Object.values(await import(new URL(file, folder).href)) as {
      name?: unknown;
      run?: unknown;
    }[];
    defined.push(
      ...exported
        .filter((value) => typeof value === 'object' && typeof value?.run === 'function')
        .map((value) => String(value.name)),
    );
  }
  expect(defined.sort()).toEqual(registry.map(({ name }) => name).sort());
});

it('names no command twice', () => {
  const names = registry.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
