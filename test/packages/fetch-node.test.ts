// Whether a release believes only a Node that one of its releasers signed: the script with real GnuPG, and a web and a
// key server that stand on this disk.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectRoot } from '../support/source-files.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const script = join(projectRoot, '.github/scripts/fetch-node.sh');
const version = '24.99.0';
let directory: TemporaryDirectory;
let keys: string;

const at = (...names: readonly string[]): string => join(directory.path, ...names);
const run = (command: string, words: readonly string[], cwd = directory.path): string =>
  execFileSync(command, words, { cwd, encoding: 'utf8', env: { ...process.env, GNUPGHOME: keys } });

beforeAll(() => {
  directory = temporaryDirectory();
  keys = at('keys');
  mkdirSync(keys, { mode: 0o700 });
  for (const who of ['releaser@example.test', 'stranger@example.test']) {
    run('gpg', [
      '--batch',
      '--quiet',
      '--passphrase',
      '',
      '--quick-generate-key',
      who,
      'ed25519',
      'sign',
      'never',
    ]);
  }
  writeFileSync(at('releaser.asc'), run('gpg', ['--armor', '--export', 'releaser@example.test']));
  for (const platform of ['linux-x64', 'linux-arm64']) pack(platform, 'bin/node', ['tar', '-cJf'], 'tar.xz');
  pack('win-x64', 'node.exe', ['zip', '-qr'], 'zip');
  // The key server knows the releaser alone, whoever is asked for.
  mkdirSync(at('bin'));
  const gpg = `case " $* " in *' --recv-keys '*) exec /usr/bin/gpg --batch --quiet --import '${at('releaser.asc')}' ;; esac`;
  writeFileSync(at('bin/gpg'), `#!/usr/bin/env bash\n${gpg}\nexec /usr/bin/gpg "$@"\n`, { mode: 0o755 });
  const curl = `while (($# > 1)); do if [ "$1" = --output ]; then to=$2; fi; shift; done\nexec cp "$WEB/$(basename "$1")" "$to"`;
  writeFileSync(at('bin/curl'), `#!/usr/bin/env bash\n${curl}\n`, { mode: 0o755 });
}, 60_000);
afterAll(() => directory[Symbol.dispose]());

function pack(platform: string, member: string, command: readonly [string, string], ending: string): void {
  const name = `node-v${version}-${platform}`;
  mkdirSync(at('web', name, 'bin'), { recursive: true });
  writeFileSync(at('web', name, member), `this is Node for ${platform}\n`);
  run(command[0], [command[1], `${name}.${ending}`, name], at('web'));
}

/** A place on the web whose list is signed by `signer`; `change` then happens to it. */
function web(name: string, signer: string, change: (folder: string) => void = () => undefined): string {
  run('cp', ['-r', 'web', name]);
  const archives = ['linux-x64.tar.xz', 'linux-arm64.tar.xz', 'win-x64.zip'].map(
    (end) => `node-v${version}-${end}`,
  );
  writeFileSync(at(name, 'SHASUMS256.txt'), run('sha256sum', archives, at(name)));
  run('gpg', ['--batch', '--local-user', signer, '--clearsign', 'SHASUMS256.txt'], at(name));
  change(at(name));
  return at(name);
}

function fetchFrom(place: string, to: string) {
  const env = { ...process.env, WEB: place, PATH: `${at('bin')}:${process.env['PATH']}` };
  const { status, stderr } = spawnSync('bash', [script, version, at(to)], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  return { status, stderr };
}

test('what a releaser signed is fetched for every platform', () => {
  expect(fetchFrom(web('good', 'releaser@example.test'), 'node')).toMatchObject({ status: 0 });
  const files = ['linux-x64/node', 'linux-arm64/node', 'win-x64/node.exe'];
  expect(files.map((file) => readFileSync(at('node', file), 'utf8'))).toEqual(
    ['linux-x64', 'linux-arm64', 'win-x64'].map((platform) => `this is Node for ${platform}\n`),
  );
});

test('what somebody else signed is not believed', () => {
  const { status, stderr } = fetchFrom(web('strange', 'stranger@example.test'), 'node-strange');
  expect(status).not.toBe(0);
  expect(stderr).toContain("Can't check signature");
});

test('what nobody signed is not believed, whatever it is wrapped in', () => {
  const place = web('unsigned', 'releaser@example.test', (folder) => {
    run(
      'gpg',
      ['--batch', '--yes', '--armor', '--store', '--output', 'SHASUMS256.txt.asc', 'SHASUMS256.txt'],
      folder,
    );
  });
  const { status, stderr } = fetchFrom(place, 'node-unsigned');
  expect(status).not.toBe(0);
  expect(stderr).toContain('no signature found');
});

test('a list that changed after it was signed is not believed', () => {
  const place = web('changed', 'releaser@example.test', (folder) => {
    const signed = join(folder, 'SHASUMS256.txt.asc');
    writeFileSync(signed, readFileSync(signed, 'utf8').replace(/^[0-9a-f]{8}/m, '00000000'));
  });
  const { status, stderr } = fetchFrom(place, 'node-changed');
  expect(status).not.toBe(0);
  expect(stderr).toContain('BAD signature');
});

test('an archive that is not the one in the list is not unpacked', () => {
  const place = web('swapped', 'releaser@example.test', (folder) => {
    run('cp', [`node-v${version}-linux-arm64.tar.xz`, `node-v${version}-linux-x64.tar.xz`], folder);
  });
  const { status, stderr } = fetchFrom(place, 'node-swapped');
  expect(status).not.toBe(0);
  expect(stderr).toContain('did NOT match');
});
