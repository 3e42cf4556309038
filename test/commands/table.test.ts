// The printer of rows: what people, scripts and programs get.
import { stripVTControlCharacters } from 'node:util';
import { expect, test, vi } from 'vitest';
import { type OptionValues, UsageError } from '../../src/commands/command.ts';
import { type Column, outputFormat, printRows } from '../../src/commands/table.ts';
import { stage } from '../support/terminal.ts';

interface Vm {
  readonly name: string;
  readonly count: number;
  readonly note: string | null;
  readonly tags: readonly string[];
}

const columns: readonly Column<Vm>[] = [
  { name: 'name', value: ({ name }) => name },
  { name: 'count', align: 'right', value: ({ count }) => count, text: ({ count }) => `~${count}` },
  { name: 'note', elastic: true, value: ({ note }) => note },
  { name: 'tags', hidden: true, value: ({ tags }) => tags },
];

const rows: readonly Vm[] = [
  { name: 'web-7', count: 7, note: 'said "go", then went', tags: ['a', 'b'] },
  { name: 'db', count: 12, note: null, tags: [] },
];

async function print(options: OptionValues, terminalColumns?: number): Promise<string> {
  const { context, stdout } = stage(options, terminalColumns);
  await printRows(context, columns, rows);
  return stdout.text;
}

const colourless = (text: string): string => stripVTControlCharacters(text);

test('a terminal gets aligned columns under headings, without the hidden ones', async () => {
  expect(colourless(await print({}, 80)).split('\n')).toEqual([
    'NAME   COUNT  NOTE',
    'web-7     ~7  said "go", then went',
    'db       ~12',
    '',
  ]);
});

test('a pipe gets tab-separated lines without headings', async () => {
  expect(await print({})).toBe('web-7\t~7\tsaid "go", then went\ndb\t~12\t\n');
});

test('an elastic column gives way when the terminal is too narrow', async () => {
  const lines = colourless(await print({}, 26)).split('\n');
  expect(lines[1]).toBe('web-7     ~7  said "go", …');
});

test('a column in lines loses nothing on a terminal that is too narrow, and breaks between words where it can', async () => {
  const lines: readonly Column<{ readonly said: string }>[] = [
    { name: 'who', value: () => 'web-7', elastic: true },
    { name: 'said', value: ({ said }) => said, elastic: 'in-lines' },
    { name: 'end', value: () => 'x' },
  ];
  const { context, stdout } = stage({}, 27);
  await printRows(context, lines, [{ said: 'it waits for hooks' }, { said: 'antidisestablishmentarian' }]);
  expect(colourless(stdout.text).split('\n')).toEqual([
    'WHO    SAID             END',
    'web-7  it waits for     x',
    '       hooks',
    'web-7  antidisestablis  x',
    '       hmentarian',
    '',
  ]);
});

test('columns that give way come to the same width, so that none pays for all', async () => {
  const both: readonly Column<string>[] = [
    { name: 'a', value: (text) => text, elastic: true },
    { name: 'b', value: (text) => text.slice(1), elastic: 'in-lines' },
  ];
  const { context, stdout } = stage({}, 26);
  await printRows(context, both, ['x'.repeat(30)]);
  const [, first] = colourless(stdout.text).split('\n');
  expect(first).toBe(`${'x'.repeat(11)}…  ${'x'.repeat(12)}`);
});

test('JSON and JSON Lines carry values under their names, hidden columns too', async () => {
  const whole = JSON.parse(await print({ output: 'json' }));
  const lines = (await print({ output: 'jsonl' }))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(whole).toEqual(rows);
  expect(lines).toEqual(rows);
});

test('CSV quotes what needs it and has a heading', async () => {
  expect(await print({ output: 'csv' })).toBe(
    'name,count,note,tags\r\nweb-7,7,"said ""go"", then went",a b\r\ndb,12,,\r\n',
  );
});

test('control characters in a value reach neither the terminal nor a line of a script', async () => {
  const evil = { name: 'a\u001b[2Jb\tc\nd\u202e', count: 1, note: null, tags: [] };
  const { context, stdout } = stage({});
  await printRows(context, columns, [evil]);
  expect(stdout.text).toBe('a [2Jb c d \t~1\t\n');
});

test.each(['json', 'jsonl'])(
  '%s escapes what could steer a terminal, and reads back as it was',
  async (output) => {
    const evil = {
      name: 'a\u001b[2J\u009b2J\u007f\u202eb\u2028\u{e0041}\n',
      count: 1,
      note: 'é 😀',
      tags: [],
    };
    const { context, stdout } = stage({ output });
    await printRows(context, columns, [evil]);
    expect(stdout.text).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
    expect(stdout.text).toContain('é 😀');
    expect([JSON.parse(stdout.text)].flat()).toEqual([evil]);
  },
);

test('a terminal gets colours unless NO_COLOR says otherwise, and a pipe gets none', async () => {
  vi.stubEnv('FORCE_COLOR', undefined);
  vi.stubEnv('NO_COLOR', undefined);
  expect(await print({ output: 'table' })).not.toContain('\u001b');
  expect(await print({}, 80)).toContain('\u001b');
  vi.stubEnv('NO_COLOR', '1');
  expect(await print({}, 80)).not.toContain('\u001b');
  vi.unstubAllEnvs();
});

test('no rows leave standard output empty and tell a person so', async () => {
  const { context, stdout, stderr } = stage({}, 80);
  await printRows(context, columns, [], 'no event matches');
  expect(stdout.text).toBe('');
  expect(stderr.text).toBe('no event matches\n');
});

test('an unknown format is a usage error', () => {
  const { context } = stage({ output: 'xml' });
  expect(() => outputFormat(context)).toThrow(UsageError);
});
