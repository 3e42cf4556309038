// Whether the script that compiles Bicep on GitHub misses no file and no warning: run with a stand-in for `az`.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { projectRoot } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** What it is called with is written down; it says what az says of a newer compiler, and `finding`. */
function compileWith(finding: string, exitCode = 0) {
  using directory = temporaryDirectory();
  const calls = join(directory.path, 'calls');
  const az = [
    '#!/usr/bin/env bash',
    `printf '%s\\n' "$*" >> '${calls}'`,
    `echo 'WARNING: A new Bicep release is available: v9.9.9. Upgrade now by running "az bicep upgrade".' >&2`,
    `echo '${finding}' >&2`,
    `exit ${exitCode}`,
  ];
  writeFileSync(join(directory.path, 'az'), az.join('\n'), { mode: 0o755 });
  const env = { ...process.env, PATH: `${directory.path}:${process.env['PATH']}` };
  const script = join(projectRoot, '.github/scripts/compile-bicep.sh');
  const { status, stdout, stderr } = spawnSync('bash', [script], { env, encoding: 'utf8' });
  return { status, stdout, stderr, calls: readFileSync(calls, 'utf8').trim().split('\n') };
}

const filesEnding = (ending: string): string[] =>
  readdirSync(join(projectRoot, 'bicep'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => `bicep/${path}`)
    .toSorted();

it('compiles and lints every file, and every file of parameters', () => {
  const { status, calls } = compileWith('');
  const filesOf = (pattern: RegExp) => calls.flatMap((call) => pattern.exec(call)?.slice(1) ?? []).toSorted();
  expect(filesOf(/^bicep build --file (\S+) --stdout$/)).toEqual(filesEnding('.bicep'));
  expect(filesOf(/^bicep lint --file (\S+)$/)).toEqual(filesEnding('.bicep'));
  expect(filesOf(/^bicep build-params --file (\S+) --stdout$/)).toEqual(filesEnding('.bicepparam'));
  expect(status).toBe(0);
});

it.each([
  [
    'a warning',
    'bicep/main.bicep(12,7) : Warning no-unused-params: Parameter "x" is declared but never used.',
    0,
  ],
  [
    'an error',
    '/home/runner/bicep/main.bicep(1,1) : Error BCP007: This declaration type is not recognized.',
    1,
  ],
  ['a compiler that does not run', 'ERROR: no space left', 1],
])('fails on %s, and says it', (_, finding, exitCode) => {
  const { status, stderr } = compileWith(finding, exitCode);
  expect(status).toBe(1);
  expect(stderr).toContain(finding);
});
