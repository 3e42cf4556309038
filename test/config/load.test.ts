// Reading a configuration file: what is wrong is said by line or path, and never quotes what stands there.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  ConfigurationError,
  loadConfiguration,
  parseConfiguration,
  readConfiguration,
} from '../../src/config/load.ts';
import { secret } from '../../src/config/secret.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const name = z.string().regex(/^[a-z]+$/, 'A sink is named with a-z');
const schema = z.strictObject({
  level: z.enum(['info', 'warn']).default('info'),
  port: z.int().optional(),
  sinks: z.record(name, z.strictObject({ url: secret() })).prefault({}),
});
const marker = 'hunter2-marker';

/** What is said to be wrong with a text. */
function faultsIn(text: string): readonly string[] {
  try {
    parseConfiguration(text, 'x.yaml', schema);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
  return [];
}

describe('a configuration', () => {
  test.each([
    ['YAML', 'level: warn\nport: 80\n'],
    ['JSON', '{"level":"warn","port":80}'],
    ['YAML with a byte order mark', '\uFEFFlevel: warn\nport: 80\n'],
    ['YAML with comments and an alias', '# why\nlevel: &x warn # so\nport: 80\n'],
  ])('is read from %s', (_format, text) => {
    expect(parseConfiguration(text, 'x.yaml', schema)).toEqual({ level: 'warn', port: 80, sinks: {} });
  });

  test.each(['', '\n', '# nothing yet\n', '---\n', 'null'])('of %j is all defaults', (text) => {
    expect(parseConfiguration(text, 'x.yaml', schema)).toEqual({ level: 'info', sinks: {} });
  });

  test.each<[string, string, readonly string[]]>([
    [
      'a key that nobody knows',
      'levle: warn',
      ['(top level): there is no setting "levle" here; did you mean "level"?'],
    ],
    [
      'a key that may be a secret itself',
      'sinks: { ops: { url: x, "Authorization: Bearer x" } }',
      ['sinks.ops: there is no setting "…" here'],
    ],
    [
      'two of them',
      'a: 1\nb: 2',
      ['a', 'b'].map((key) => `(top level): there is no setting "${key}" here; there are level, port, sinks`),
    ],
    [
      'one further down',
      'sinks: { ops: { url: x, uri: y } }',
      ['sinks.ops: there is no setting "uri" here; did you mean "url"?'],
    ],
    ['a name that is none', 'sinks: { Ops: { url: x } }', ['sinks.Ops: A sink is named with a-z']],
    ['a value of the wrong type', 'port: eighty', ['port: Expected a number']],
    [
      'a secret of the wrong type',
      'sinks: { ops: { url: 7 } }',
      ['sinks.ops.url: Expected { file: PATH }, { credential: NAME }, { env: NAME } or a string'],
    ],
    ['several faults', 'port: x\nlevel: y', ['level: Expected one of info, warn', 'port: Expected a number']],
    ['a list', '- 1', ['(top level): Expected a mapping, names with a value each']],
    ['a text', 'hello', ['(top level): Expected a mapping, names with a value each']],
    [
      'the name of what every object has',
      '__proto__: { level: warn }',
      ['(top level): there is no setting "__proto__" here; there are level, port, sinks'],
    ],
    ['a key given twice', 'port: 1\nport: 2', ['line 2, column 1: not valid YAML (DUPLICATE_KEY)']],
    ['two documents', 'port: 1\n---\nport: 2', ['line 2, column 1: not valid YAML (MULTIPLE_DOCS)']],
    ['a bracket that is not closed', 'sinks: {\n', ['line 2, column 1: not valid YAML (BAD_INDENT)']],
    [
      'an alias that points nowhere',
      'port: *nowhere',
      ['an alias (*name) has no anchor before it, or there are too many'],
    ],
  ])('with %s is refused, by its place', (_fault, text, faults) => {
    expect(faultsIn(text)).toEqual(faults);
  });

  test('that grows without end is refused', () => {
    const layers = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [one, next] of ['ab', 'bc', 'cd', 'de', 'ef']) {
      layers.push(`${next}: &${next} [${Array(10).fill(`*${one}`).join(', ')}]`);
    }
    expect(faultsIn(layers.join('\n'))).toEqual([
      'an alias (*name) has no anchor before it, or there are too many',
    ]);
  });

  test('that is wrong is named in the error, with a line for each fault', () => {
    const attempt = () => parseConfiguration('a: 1\nb: 2', 'etc/agent.yaml', schema);
    expect(attempt).toThrow(
      'etc/agent.yaml cannot be used:\n  (top level): there is no setting "a" here; there are level, port, sinks\n  (top level): there is no setting "b" here; there are level, port, sinks',
    );
  });

  test.each([
    ['that are not closed', `sinks: { ops: { url: "${marker} } }`],
    ['of the wrong type', `sinks: { ops: { url: [${marker}] } }`],
    ['where a number should be', `port: ${marker}`],
    ['where a choice should be', `level: ${marker}`],
    ['behind a tab', `sinks:\n\tops: ${marker}`],
    ['behind a second colon', `sinks: ops: ${marker}`],
    ['with an alias for a beginning', `sinks: { ops: { url: *${marker} } }`],
    ['with a tag', `sinks: { ops: { url: !${marker} } }`],
    [
      'that stand alone between braces',
      `sinks: { ops: { url: x, "xoxb-1234-${marker}-${'k'.repeat(16)}" } }`,
    ],
    ['that stand where a name should be', `sinks: { "https://x.test/${marker}": { url: x } }`],
  ])('does not repeat secrets %s', (_how, text) => {
    expect(faultsIn(text).length).toBeGreaterThan(0);
    expect(faultsIn(text).join('\n')).not.toContain(marker);
  });

  test('makes the parser print nothing', async () => {
    const warnings: string[] = [];
    const listen = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', listen);
    // What an unfilled template leaves behind: a map for a key.
    expect(faultsIn(`sinks: { ops: { url: {{ ${marker} }} } }`).join('\n')).not.toContain(marker);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });
});

describe('a configuration file', () => {
  test('is read, judged or not', () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'agent.yaml');
    writeFileSync(path, 'port: 80\nother: 1\n');
    expect(readConfiguration(path)).toEqual({ port: 80, other: 1 });
    expect(() => loadConfiguration(path, schema)).toThrow(`${path} cannot be used:`);
    writeFileSync(path, 'port: 80\n');
    expect(loadConfiguration(path, schema)).toEqual({ level: 'info', port: 80, sinks: {} });
  });

  test('that is not there, or is a directory, is refused by its name', () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'missing.yaml');
    const missing = `${path} cannot be used:\n  the file cannot be read (ENOENT); give its path with -c FILE`;
    expect(() => loadConfiguration(path, schema)).toThrow(missing);
    expect(() => readConfiguration(path)).toThrow(missing);
    expect(() => loadConfiguration(directory.path, schema)).toThrow('the file cannot be read (EISDIR)');
  });
});
