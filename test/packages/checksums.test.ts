// Whether SHA256SUMS is what sha256sum and install.sh read, over everything that is shipped and nothing else.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { pathsOf, planOf } from '../../scripts/package/artefacts.ts';
import { writeChecksums } from '../../scripts/package/checksums.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = new URL('../../', import.meta.url);

/** Runs the build as a person does. */
function build(...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/package.ts', ...words], {
    ...{ cwd: root, encoding: 'utf8' },
  });
  return { status, stdout, stderr };
}

it('names every artefact of either architecture, and is taken by sha256sum', () => {
  using directory = temporaryDirectory();
  const plans = (['x64', 'arm64'] as const).map((architecture) =>
    planOf({ architecture, outDirectory: directory.path }),
  );
  const { executable, deb, rpm, tar, windows, vmapp, image } = pathsOf(
    planOf({ outDirectory: directory.path }),
  );
  const shipped = [
    ...plans.flatMap((plan) => [pathsOf(plan).executable, pathsOf(plan).deb, pathsOf(plan).rpm]),
  ];
  for (const path of [...shipped, tar, windows, vmapp, image]) writeFileSync(path, path);
  for (const name of [
    'notes.txt',
    'LICENSES.txt',
    'seb-windows-x64.exe',
    'scheduled-events-bridge_0.9.0_amd64.deb',
    // What a build that was ended leaves.
    `${basename(tar)}.part`,
  ])
    writeFileSync(join(directory.path, name), 'not shipped');
  mkdirSync(join(directory.path, 'cache'));
  const sums = writeChecksums(planOf({ outDirectory: directory.path }));
  const check = () =>
    spawnSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: directory.path, encoding: 'utf8' });
  expect(check()).toMatchObject({ status: 0, stderr: '' });
  expect(check().stdout.trim().split('\n')).toHaveLength(10);
  for (const path of [executable, deb, rpm, tar])
    expect(readFileSync(sums, 'utf8')).toContain(`  ${path.split('/').at(-1)}\n`);
  appendFileSync(deb, 'x');
  expect(check().status).toBe(1);
});

it('says in one sentence what is wrong with what it was asked for', () => {
  expect(build('dep')).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'package: there is no part "dep", only executable, deb, rpm, tar, windows, vmapp, image, checksums\n',
  });
  expect(build('deb', '--arch', 'mips').stderr).toBe('package: --arch is one of x64, arm64, not "mips"\n');
  expect(build('executable', '--node', '/nowhere/node').stderr).toBe(
    'package: there is no Node at /nowhere/node\n',
  );
  expect(build('--colour')).toMatchObject({ status: 2 });
  expect(build('--help')).toMatchObject({ status: 0, stderr: '' });
});

it('says what is missing, before it begins', () => {
  using directory = temporaryDirectory();
  const { status, stderr } = spawnSync(
    process.execPath,
    ['scripts/package.ts', 'checksums', '--out', directory.path],
    {
      ...{ cwd: root, encoding: 'utf8' },
    },
  );
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `package: there is nothing to sum up in ${directory.path}\n`,
  });
  const without = spawnSync(process.execPath, ['scripts/package.ts', 'vmapp', '--out', directory.path], {
    ...{ cwd: root, encoding: 'utf8', env: { PATH: directory.path } },
  });
  expect(without.stderr).toBe('package: executable needs strip, which is missing here\n');
});

/** What the build leaves out where of the tools only these are. It ends there: the Node that it is given is none. */
function leftOutWith(directory: string, ...tools: readonly string[]): string[] {
  const bin = mkdtempSync(join(directory, 'bin-'));
  for (const tool of tools) symlinkSync('/bin/true', join(bin, tool));
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/package.ts', '--node', '/nowhere/node', '--out', join(directory, 'out')],
    { ...{ cwd: root, encoding: 'utf8', env: { PATH: bin } } },
  );
  expect(stderr).toBe('package: there is no Node at /nowhere/node\n');
  return stdout.split('\n').filter(Boolean);
}

it('leaves out what cannot be built here, with all that needs it, and says so', () => {
  using directory = temporaryDirectory();
  const withStripAnd = (tool: string) => leftOutWith(directory.path, 'strip', tool);
  expect(withStripAnd('rpmbuild')).toEqual(
    ['deb', 'vmapp'].map((part) => `${part}: left out, dpkg-deb is missing here`),
  );
  expect(withStripAnd('dpkg-deb')).toEqual(
    ['rpm', 'vmapp'].map((part) => `${part}: left out, rpmbuild is missing here`),
  );
  expect(leftOutWith(directory.path)).toEqual(
    ['executable', 'deb', 'rpm', 'tar', 'vmapp'].map((part) => `${part}: left out, strip is missing here`),
  );
});
