// Whether the archives can be unpacked by the usual tools, and hold what installing by hand and on Windows needs.
import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildArchive } from '../../scripts/package/archive.ts';
import { pathsOf, planOf } from '../../scripts/package/artefacts.ts';
import { buildVmApplication } from '../../scripts/package/vm-application.ts';
import { packWindows } from '../../scripts/package/windows.ts';
import { zipOf } from '../../scripts/package/zip.ts';
import { version } from '../../src/version.ts';
import { projectRoot } from '../support/source-files.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { sha256 } from './stand-in-packages.ts';
import { built, planElsewhere, sharedPlan } from './support/built.ts';

let directory: TemporaryDirectory;

beforeAll(() => {
  directory = temporaryDirectory();
});

afterAll(() => directory[Symbol.dispose]());

const run = (tool: string, ...words: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(tool, words, {
    encoding: 'utf8',
    env: { ...process.env, TZ: 'UTC' },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
};

it('has a tar.gz with the whole tree and how to install it by hand, the same whenever it is built', async () => {
  const tar = await built('tar');
  const listed = run('tar', '-tvzf', tar);
  expect(listed).toMatch(/^-rwxr-xr-x 0\/0 .* \.\/usr\/lib\/scheduled-events-bridge\/bin\/seb$/m);
  expect(listed).toMatch(/^lrwxrwxrwx 0\/0 .* \.\/usr\/bin\/seb -> /m);
  expect(listed).toMatch(/^drwx------ 0\/0 .* \.\/etc\/scheduled-events-bridge\/credentials\/$/m);
  expect(listed).toMatch(/^-rw-r--r-- 0\/0 .* \.\/INSTALL\.txt$/m);
  const plan = planElsewhere(directory.path);
  expect(sha256(await buildArchive(plan))).toBe(sha256(tar));
});

it('installs by the commands of INSTALL.txt', async () => {
  const tar = await built('tar');
  const root = join(directory.path, 'root');
  mkdirSync(root);
  const text = readFileSync(join(projectRoot, 'infra/packages/archive/INSTALL.txt'), 'utf8').replaceAll(
    '\\\n',
    ' ',
  );
  const commands = [...text.matchAll(/^ {5}((?:tar|install) .*)$/gm)].map(([, command]) => command ?? '');
  expect(commands).toHaveLength(4);
  const here = commands
    .map((command) =>
      command.replaceAll(' /', ` ${root}/`).replace(/scheduled-events-bridge-VERSION\S+/, tar),
    )
    .join(' && ');
  run('sh', '-euc', here.replace(`-C ${root}/ `, `-C ${root} `));
  expect(run(join(root, 'usr/bin/seb'), '--version')).toBe(`${version}\n`);
  const dropIns = join(root, 'etc/systemd/system/scheduled-events-bridge-agent.service.d');
  expect(readFileSync(join(dropIns, 'older-systemd.conf'), 'utf8')).toContain('CREDENTIALS_DIRECTORY');
  expect(run('stat', '-c', '%a', join(root, 'etc/scheduled-events-bridge/credentials'))).toBe('700\n');
});

it('writes a zip that the usual tools take, whatever is in it', () => {
  const path = join(directory.path, 'some.zip');
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * index) % 251));
  const entries = [
    { name: 'folder/noise.bin', bytes },
    { name: 'folder/empty', bytes: Buffer.alloc(0) },
    { name: 'folder/long.txt', bytes: Buffer.from('x'.repeat(2 ** 20)) },
  ];
  const epochSeconds = Date.UTC(2026, 10, 20, 12, 34, 56) / 1000;
  writeFileSync(path, zipOf(entries, epochSeconds));
  expect(run('unzip', '-t', path)).toContain('No errors detected');
  expect(run('unzip', '-lv', path)).toMatch(/2026-11-20 12:34 .* folder\/noise\.bin/);
  run('unzip', '-q', path, '-d', join(directory.path, 'unzipped'));
  for (const { name, bytes: meant } of entries)
    expect(readFileSync(join(directory.path, 'unzipped', name)).equals(meant)).toBe(true);
  expect(zipOf(entries, epochSeconds).equals(readFileSync(path))).toBe(true);
});

it('puts seb.exe, its licences and all of infra/windows into the zip for Windows', async () => {
  await built('executable');
  const plan = planOf({ outDirectory: join(directory.path, 'windows') });
  mkdirSync(plan.outDirectory);
  const to = pathsOf(plan);
  writeFileSync(to.windowsExecutable, 'MZ');
  linkSync(pathsOf(sharedPlan()).licenses, to.licenses);
  const names = run('unzip', '-Z1', packWindows(plan)).trim().split('\n');
  const folder = `scheduled-events-bridge-${version}/`;
  const scripts = readdirSync(join(projectRoot, 'infra/windows'), { withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ name }) => name);
  expect(names.toSorted()).toEqual(
    ['seb.exe', 'LICENSES.txt', ...scripts].map((name) => folder + name).toSorted(),
  );
});

it('puts the packages of every architecture and what installs them into one archive for a gallery', async () => {
  const plan = planOf({ outDirectory: join(directory.path, 'vmapp'), compression: 'quick' });
  mkdirSync(plan.outDirectory);
  const packages = (['x64', 'arm64'] as const).flatMap((architecture) => {
    const { deb, rpm } = pathsOf({ ...plan, architecture });
    return [deb, rpm];
  });
  for (const path of packages) writeFileSync(path, path);
  writeFileSync(join(plan.outDirectory, 'scheduled-events-bridge_0.9.0_amd64.deb'), 'an older one');
  const archive = await buildVmApplication(plan);
  const names = run('tar', '-tzf', archive)
    .trim()
    .split('\n')
    .map((name) => basename(name));
  expect(names.toSorted()).toEqual(
    ['.', 'install.sh', 'manage.sh', 'SHA256SUMS', ...packages.map((path) => basename(path))].toSorted(),
  );
  run('tar', '-xzf', archive, '-C', plan.outDirectory);
  expect(run('sh', '-c', `cd '${plan.outDirectory}' && sha256sum --check --strict --quiet SHA256SUMS`)).toBe(
    '',
  );
  expect(run('stat', '-c', '%a', join(plan.outDirectory, 'manage.sh'))).toBe('755\n');
});
