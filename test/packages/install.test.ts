// Runs install.sh for real, as root on a copy-on-write view of this machine, from a real server with TLS.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueCertificate } from '../support/certificate.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { type Ended, node, openPrivateMachine, type PrivateMachine } from './private-machine.ts';
import { sha256, standInDeb, standInRpm, standInTar, standInTree, writeSums } from './stand-in-packages.ts';

const script = fileURLToPath(new URL('../../infra/install.sh', import.meta.url));
const server = fileURLToPath(new URL('package-server.ts', import.meta.url));
const kept = '/var/cache/scheduled-events-bridge';
const deb = (version: string): string => `scheduled-events-bridge_${version}_amd64.deb`;

let directory: TemporaryDirectory;
let packages: string;

beforeAll(() => {
  directory = temporaryDirectory();
  packages = join(directory.path, 'packages');
  mkdirSync(packages);
  const trees = ['1.0.0', '1.1.0'].map((version) => ({
    version,
    path: standInTree(directory.path, { version }),
  }));
  const rpms = trees.map(({ version, path }) => standInRpm(packages, path, version));
  const tars = trees.map(({ version, path }) => standInTar(packages, path, version));
  const debs = trees.map(({ version, path }) => standInDeb(packages, path, version));
  writeSums(packages, [...rpms, ...tars, ...debs]);
  const { key, cert } = issueCertificate();
  writeFileSync(join(directory.path, 'key'), key);
  writeFileSync(join(directory.path, 'cert'), cert);
});
afterAll(() => directory[Symbol.dispose]());

interface Machine extends AsyncDisposable {
  readonly run: PrivateMachine['run'];
  readonly url: string;
  /** Runs the script with these options, in the shell that Debian pipes into. */
  install(options: string): Promise<Ended>;
  /** All that an installation could have changed. */
  state(): Promise<string>;
}

async function machine(served = packages): Promise<Machine> {
  const open = await openPrivateMachine(directory.path);
  const [key, cert] = [join(directory.path, 'key'), join(directory.path, 'cert')];
  const url = await open.start([node, server, served, key, cert]);
  const watched = `${kept}/packages ${kept}/installed ${kept}/previous /usr/lib/scheduled-events-bridge /etc/scheduled-events-bridge`;
  return {
    run: open.run,
    url,
    install: (options) => open.run(`CURL_CA_BUNDLE=${cert} dash ${script} ${options}`),
    state: async () =>
      (
        await open.run(
          `dpkg -l scheduled-events-bridge; ls -lR ${watched}; ls ${kept}; cat ${kept}/installed`,
        )
      ).stdout,
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  };
}

const version = async ({ run }: Machine): Promise<string> => (await run('seb --version')).stdout.trim();

/** Runs it, and expects one sentence, an exit code and a machine that is as it was. */
async function refuses(on: Machine, options: string, sentence: string | RegExp, exitCode = 1): Promise<void> {
  await on.run(`mkdir -p ${kept}/packages && touch ${kept}/lock`);
  const before = await on.state();
  const ended = await on.install(options);
  expect(ended.stderr).toMatch(sentence);
  expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
  expect(ended).toMatchObject({ exitCode, stdout: '' });
  expect(await on.state()).toBe(before);
}

test('shellcheck has nothing to say about the installer and the VM Application', () => {
  const scripts = [script, join(script, '../vm-application/manage.sh')];
  const { stdout, status } = spawnSync('shellcheck', scripts, { encoding: 'utf8' });
  expect({ stdout, status }).toEqual({ stdout: '', status: 0 });
});

test('a verified package is installed and nothing is started; the same again changes nothing', async () => {
  await using on = await machine();
  const first = await on.install(`--from ${on.url} --version 1.0.0`);
  expect(first.stdout).toContain('Nothing was started: asking for Scheduled Events switches them on');
  expect(first.exitCode).toBe(0);
  expect(await version(on)).toBe('1.0.0');
  const before = await on.state();
  const again = await on.install(`--from ${on.url} --version 1.0.0`);
  expect(again).toMatchObject({
    exitCode: 0,
    stdout: `${deb('1.0.0')} is installed already\n`,
  });
  expect(await on.state()).toBe(before);
});

test('piped into a shell it works as well, and cut short on its way it does nothing', async () => {
  await using on = await machine();
  const words = readFileSync(script, 'utf8');
  const piped = `sh -s -- --from ${packages} --version 1.0.0`;
  for (const part of [0.3, 0.6, 0.97]) {
    await on.run(piped, words.slice(0, words.length * part));
    expect(await version(on)).toBe('');
  }
  expect((await on.run(piped, words)).exitCode).toBe(0);
  expect(await version(on)).toBe('1.0.0');
});

test('a package, or a list of hashes, that is not the promised one is refused before anything is touched', async () => {
  const altered = join(directory.path, 'altered');
  mkdirSync(altered);
  for (const name of [deb('1.0.0'), 'SHA256SUMS']) copyFileSync(join(packages, name), join(altered, name));
  truncateSync(join(altered, deb('1.0.0')), 2_000);
  await using on = await machine(altered);
  const zeros = '0'.repeat(64);
  await refuses(on, `--from ${on.url} --version 1.0.0`, /1\.0\.0_amd64\.deb is not what SHA256SUMS says/);
  await refuses(on, `--from ${packages} --version 1.0.0 --sha256 ${zeros}`, /is not what --sha256 says/);
  await refuses(
    on,
    `--from ${packages} --version 1.0.0 --sums-sha256 ${zeros}`,
    /is not what --sums-sha256 says/,
  );
  const sums = sha256(join(packages, 'SHA256SUMS')).toUpperCase();
  const good = await on.install(`--from ${packages} --version 1.0.0 --sums-sha256 ${sums}`);
  expect(good.exitCode).toBe(0);
});

test('a list of hashes can name files of its own folder only', async () => {
  const elsewhere = join(directory.path, 'elsewhere');
  mkdirSync(join(elsewhere, 'scheduled-events-bridge_..'), { recursive: true });
  const path = 'scheduled-events-bridge_../x_amd64.deb';
  copyFileSync(join(packages, deb('1.0.0')), join(elsewhere, path));
  writeSums(elsewhere, [path]);
  await using on = await machine();
  await refuses(on, `--from ${elsewhere}`, 'names no scheduled-events-bridge_*_amd64.deb');
});

test('a hash that is given is enough, without a list', async () => {
  const bare = join(directory.path, 'bare');
  mkdirSync(bare);
  copyFileSync(join(packages, deb('1.0.0')), join(bare, deb('1.0.0')));
  await using on = await machine(bare);
  const hash = sha256(join(bare, deb('1.0.0')));
  expect((await on.install(`--from ${on.url} --version 1.0.0 --sha256 ${hash}`)).exitCode).toBe(0);
  expect(await version(on)).toBe('1.0.0');
});

test('a download that breaks off, is missing, or comes from a server nobody vouches for ends in one sentence', async () => {
  await using on = await machine();
  await refuses(on, `--from ${on.url}/broken --version 1.0.0`, /could not be fetched from .*transfer closed/);
  await refuses(on, `--from ${on.url}/nowhere --version 1.0.0`, /SHA256SUMS could not be fetched .*404/);
  await refuses(on, `--from ${packages}/nowhere --version 1.0.0`, 'there is no directory');
  await refuses(on, `--from ${on.url.replace('https', 'http')}`, 'must be an https URL or a directory', 2);
  const stranger = await on.run(`dash ${script} --from ${on.url} --version 1.0.0`);
  expect(stranger.stderr).toMatch(/could not be fetched .*certificate/);
  expect(await version(on)).toBe('');
});

test('what cannot be meant is refused: no place, no version among several, a version nobody lists, a wrong hash', async () => {
  await using on = await machine();
  await refuses(on, '--version 1.0.0', 'there is no published place to install from yet', 2);
  await refuses(on, `--from ${packages}`, 'names several versions: say which with --version', 2);
  await refuses(on, `--from ${packages} --version 9.9.9`, 'names no scheduled-events-bridge_9.9.9_amd64.deb');
  await refuses(on, `--from ${packages} --version '1 .0'`, 'is no version', 2);
  await refuses(on, `--from ${packages} --sha256 abc`, 'must be 64 hexadecimal digits', 2);
  await refuses(on, '--frm x', 'there is no option --frm', 2);
  await refuses(on, '--rollback', 'no earlier package is kept');
});

test('an architecture that has no package, and a user who is not root, are told so', async () => {
  await using on = await machine();
  const strange = await on.run(`setarch i686 dash ${script} --from ${packages} --version 1.0.0`);
  expect(strange).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('architecture i686') });
  const other = await on.run(`setpriv --reuid 65534 --clear-groups dash ${script} --from /usr`);
  expect(other).toMatchObject({ exitCode: 1, stderr: 'install.sh: run it as root\n' });
  expect(await version(on)).toBe('');
});

test('a second install.sh waits for no one: it says that another is at work', async () => {
  await using on = await machine();
  const both = `mkdir -p ${kept}; exec 8>${kept}/lock; flock 8; dash ${script} --from ${packages} --version 1.0.0 8>&-`;
  expect(await on.run(both)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('another install.sh'),
  });
});

test('--dry-run fetches, verifies and tries, and changes nothing', async () => {
  await using on = await machine();
  await on.run(`mkdir -p ${kept}/packages && touch ${kept}/lock`);
  const before = await on.state();
  const ended = await on.install(`--from ${on.url} --version 1.0.0 --dry-run`);
  expect(ended).toMatchObject({ exitCode: 0, stdout: `${deb('1.0.0')} is good, and would be installed\n` });
  expect(await on.state()).toBe(before);
});

test('an upgrade keeps the package before and none that is older, and --rollback goes back to it, and forth again', async () => {
  await using on = await machine();
  await on.install(`--from ${packages} --version 1.0.0`);
  await on.run(`touch ${kept}/packages/${deb('0.9.0')}`);
  const upgrade = await on.install(`--from ${packages} --version 1.1.0`);
  expect(upgrade.stdout).not.toContain('Nothing was started');
  expect((await on.run(`ls ${kept}/packages`)).stdout).toBe(`${deb('1.0.0')}\n${deb('1.1.0')}\n`);
  expect(await version(on)).toBe('1.1.0');
  expect((await on.install('--rollback')).exitCode).toBe(0);
  expect(await version(on)).toBe('1.0.0');
  expect((await on.install('--rollback')).exitCode).toBe(0);
  expect(await version(on)).toBe('1.1.0');
  await on.run(`echo more >> ${kept}/packages/${deb('1.0.0')}`);
  await refuses(on, '--rollback', /1\.0\.0_amd64\.deb is not what the record in .* says/);
});

test('a program that does not run here, or refuses the configuration that is here, is not installed', async () => {
  const broken = join(directory.path, 'broken-program');
  mkdirSync(broken);
  const tree = standInTree(directory.path, { version: '1.2.0' });
  writeFileSync(join(tree, 'usr/lib/scheduled-events-bridge/bin/seb'), '#!/bin/nothing\n', { mode: 0o755 });
  writeSums(broken, [standInDeb(broken, tree, '1.2.0')]);
  await using on = await machine();
  await refuses(on, `--from ${broken}`, /the program does not run on this machine, .*glibc 2\.28/);
  await on.run(
    'mkdir -p /etc/scheduled-events-bridge; echo stateDirr: /x > /etc/scheduled-events-bridge/agent.yaml',
  );
  const refused = await on.install(`--from ${packages} --version 1.0.0`);
  expect(refused.stderr).toMatch(
    /the agent of .*1\.0\.0_amd64\.deb refuses .*agent\.yaml; nothing was changed/,
  );
  expect(refused.stderr).toContain('stateDir');
  expect(await version(on)).toBe('');
});

test('a configuration that came along is taken back when the package manager refuses the package', async () => {
  const settings = '/etc/scheduled-events-bridge/agent.yaml';
  const given = join(directory.path, 'given.yaml');
  writeFileSync(given, 'log: { level: debug }\n');
  await using on = await machine();
  await on.run(`echo 'DPkg::Pre-Invoke { "false"; };' > /etc/apt/apt.conf.d/99refuses`);
  const install = () => on.install(`--from ${packages} --version 1.0.0 --config ${given}`);
  const first = await install();
  expect(first.exitCode).toBe(1);
  expect(first.stderr).toMatch(
    /1\.0\.0_amd64\.deb could not be installed: what the package manager says is above/,
  );
  expect((await on.run(`ls ${settings}`)).exitCode).not.toBe(0);
  const own = 'log: { level: warn }\n';
  await on.run(`cat > ${settings}`, own);
  expect((await install()).exitCode).toBe(1);
  expect((await on.run(`cat ${settings}`)).stdout).toBe(own);
  expect(await version(on)).toBe('');
});

test('--start enables the agent, and needs its configuration', async () => {
  await using on = await machine();
  await refuses(
    on,
    `--from ${packages} --version 1.0.0 --start`,
    /there is no .*agent\.yaml to start the agent with/,
  );
  await on.run('mkdir -p /etc/scheduled-events-bridge; echo "{}" > /etc/scheduled-events-bridge/agent.yaml');
  const started = await on.install(`--from ${packages} --version 1.0.0 --start`);
  expect(started.exitCode).toBe(0);
  expect(started.stdout).toContain('the agent starts at the next boot');
  const enabled = await on.run('systemctl is-enabled scheduled-events-bridge-agent.service');
  expect(enabled.stdout).toBe('enabled\n');
});

test('where rpm is at home an rpm is installed, upgraded and gone back from', async () => {
  await using on = await machine();
  await on.run(`printf 'ID="rhel"\\nID_LIKE="fedora"\\n' > /etc/os-release`);
  await on.install(`--from ${packages} --version 1.0.0`);
  await on.install(`--from ${on.url} --version 1.1.0`);
  expect((await on.run('rpm -q scheduled-events-bridge')).stdout).toContain('1.1.0-1.x86_64');
  expect((await on.install('--rollback')).exitCode).toBe(0);
  expect((await on.run('rpm -q scheduled-events-bridge')).stdout).toContain('1.0.0-1.x86_64');
});

test('a tar is put in place file by file, also over a program that runs', async () => {
  await using on = await machine();
  await on.install(`--from ${packages} --version 1.0.0 --format tar`);
  expect(await version(on)).toBe('1.0.0');
  expect((await on.run('stat -c %a /etc/scheduled-events-bridge/credentials')).stdout).toBe('700\n');
  expect((await on.install(`--from ${packages} --version 1.1.0 --format tar`)).exitCode).toBe(0);
  expect(await version(on)).toBe('1.1.0');
  expect((await on.install('--rollback')).exitCode).toBe(0);
  expect(await version(on)).toBe('1.0.0');
});
