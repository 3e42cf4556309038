// The house rules that a machine can check: who may import whom, what the core may not name, how files begin.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importsOf, projectRoot, sourceFiles } from './support/source-files.ts';

/**
 * Imports point down. A folder may import itself, the leaves, what stands here, and Node's own modules.
 * `commands` loads each program; nothing but it and the tests knows the emulators.
 */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'src/core': ['zod'],
  'src/config': ['src/core', 'zod', 'yaml'],
  'src/sinks': ['src/config', 'src/core', 'zod', 'undici', 'ws', 'p-retry', '@azure/event-hubs'],
  'src/blobs': ['src/config', '@azure/storage-blob', '@azure/identity'],
  'src/audit': ['src/blobs', 'src/config', 'src/core', 'zod', 'pg', '@azure/identity'],
  'src/status': ['src/config', 'prom-client'],
  'src/delivery': ['src/sinks', 'src/config', 'src/core'],
  'src/agent': ['src/delivery', 'src/sinks', 'src/status', 'src/config', 'src/core', 'zod', 'p-retry'],
  'src/consumer': [
    'src/audit',
    'src/blobs',
    'src/delivery',
    'src/sinks',
    'src/status',
    'src/config',
    'src/core',
    'zod',
    'p-retry',
    '@azure/event-hubs',
    '@azure/eventhubs-checkpointstore-blob',
    '@azure/identity',
  ],
  'src/emulators': ['src/core', 'zod', 'yaml', 'rhea', 'ws'],
  'src/commands': [
    'src/agent',
    'src/consumer',
    'src/emulators',
    'src/audit',
    'src/blobs',
    'src/delivery',
    'src/sinks',
    'src/config',
    'src/core',
    'zod',
    'yaml',
  ],
  'src/cli.ts': ['src/commands'],
  'src/clock.ts': [],
  'src/directories.ts': [],
  'src/log.ts': ['pino'],
  'src/service-channel.ts': [],
  'src/service-notify.ts': [],
  'src/sqlite.ts': [],
  'src/version.ts': ['package.json'],
};

/** Anyone but the core may use them. */
const leaves = [
  'src/clock.ts',
  'src/directories.ts',
  'src/log.ts',
  'src/service-channel.ts',
  'src/service-notify.ts',
  'src/sqlite.ts',
  'src/version.ts',
];
const nodeModulesOfCore = ['node:crypto', 'node:util', 'node:assert'];

const files = sourceFiles('src');
const tests = [...sourceFiles('test'), ...sourceFiles('scripts')];

const placeOf = (path: string): string => path.split('/').slice(0, 2).join('/');

function forbiddenImports(path: string, imported: readonly string[]): string[] {
  const place = placeOf(path);
  const isCore = place === 'src/core';
  const allowed = [place, ...(mayImport[place] ?? []), ...(isCore ? nodeModulesOfCore : leaves)];
  return imported.filter(
    (target) => !allowed.includes(placeOf(target)) && (isCore || !target.startsWith('node:')),
  );
}

describe('imports', () => {
  it('gives every file of the house a line in the table', () => {
    expect(files.map(({ path }) => placeOf(path)).filter((place) => !(place in mayImport))).toEqual([]);
  });

  it.each(Object.keys(mayImport))('of %s point down', (place) => {
    const wrong = files
      .filter(({ path }) => placeOf(path) === place)
      .flatMap((file) => forbiddenImports(file.path, importsOf(file)).map((to) => `${file.path} → ${to}`));
    expect(wrong).toEqual([]);
  });

  it('would notice every way of importing what is not allowed', () => {
    const text = [
      "import { a } from '../consumer/store.ts';",
      "import type {\n  B,\n} from '../commands/command.ts';",
      "export { c } from '../emulators/imds/server.ts';",
      "const d = await import('rhea');",
      "import '@azure/identity/sub';",
    ].join('\n');
    const file = { path: 'src/agent/agent.ts', text, code: text };
    expect(forbiddenImports(file.path, importsOf(file))).toHaveLength(5);
    expect(forbiddenImports('src/core/diff.ts', ['node:fs', 'src/clock.ts', 'node:crypto'])).toEqual([
      'node:fs',
      'src/clock.ts',
    ]);
  });

  it('of packages name only those that package.json declares for run time', async () => {
    const { default: metadata } = await import('../package.json', { with: { type: 'json' } });
    const declared = Object.keys(metadata.dependencies);
    const used = files
      .flatMap(importsOf)
      .filter((name) => !name.startsWith('node:') && !/^src\/|\.json$/.test(name));
    expect([...new Set(used)].filter((name) => !declared.includes(name))).toEqual([]);
  });
});

describe('the core', () => {
  const impure =
    /\bDate\.now\b|\bnew Date\(\s*\)|\bMath\.random\b|\bprocess\b|\bfetch\b|\bperformance\b|\bsetTimeout\b|\bsetInterval\b|\brandomUUID\b|\brandomBytes\b|\bconsole\b/;

  it.each(files.filter(({ path }) => placeOf(path) === 'src/core').map((file) => [file.path, file] as const))(
    'names no clock, chance, process or network in %s',
    (_, file) => {
      expect(file.code.split('\n').filter((line) => impure.test(line))).toEqual([]);
    },
  );
});

describe('every file', () => {
  it('opens with one sentence that says its job', () => {
    const mute = [...files, ...tests].filter(({ text }) => !/^(#!.*\n)?\/\/ [A-Z`].{10,}/.test(text));
    expect(mute.map(({ path }) => path)).toEqual([]);
  });

  it('is at most 250 lines long, where it is no list of tests', () => {
    const supporting = tests.filter(({ path }) => !path.endsWith('.test.ts'));
    const long = [...files, ...supporting].filter(({ text }) => text.trimEnd().split('\n').length > 250);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('has small functions with few parameters, and no import cycle, default export or loose promise', () => {
    const rules = [
      'complexity/noExcessiveLinesPerFunction',
      'complexity/useMaxParams',
      'nursery/noFloatingPromises',
      'style/noDefaultExport',
      'suspicious/noExplicitAny',
      'suspicious/noImportCycles',
    ];
    const only = rules.map((rule) => `--only=${rule}`);
    const biome = join(projectRoot, 'node_modules/@biomejs/biome/bin/biome');
    const lint = spawnSync(
      process.execPath,
      [biome, 'lint', ...only, '--reporter=github', 'src', 'scripts'],
      {
        cwd: projectRoot,
        encoding: 'utf8',
      },
    );
    const faults = lint.stdout.match(/^::error .*$/gm) ?? [];
    expect(faults.map((fault) => fault.replace(/^.*?file=([^,]*),line=(\d+).*?::/, '$1:$2 '))).toEqual([]);
    expect(lint.status).toBe(0);
  });

  it('says why where it silences the linter or the compiler', () => {
    const silent = [...files, ...tests].flatMap(({ path, text }) =>
      text
        .split('\n')
        .filter((line) => /@ts-(ignore|nocheck|expect-error)|biome-ignore(?! \S+: \S+)/.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(silent.filter((line) => !line.startsWith('test/architecture.test.ts'))).toEqual([]);
  });

  it('never decides by the type of a sink', () => {
    const deciding = files.filter(({ code }) => /switch\s*\([^)]*\btype\b[^)]*\)/.test(code));
    expect(
      deciding.map(({ path }) => path).filter((path) => /^src\/(sinks|agent|consumer|commands)\//.test(path)),
    ).toEqual([]);
  });
});

describe('the tests', () => {
  it('replace no module, skip nothing and promise nothing', () => {
    const forbidden =
      /\bvi\.((?:do)?[mM]ock|spyOn|fn|stubGlobal)\b|\b(it|test|describe|context)\.(skip|only|todo|fails|runIf)(If)?\b|\bx(it|describe)\(/;
    const wrong = tests.filter(({ code }) => forbidden.test(code));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});
