// Whether docs/install.md installs from a place of one's own as it says: the block is run as it stands, as root.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksRunBy } from '../guides/pages.ts';
import { issueCertificate } from '../support/certificate.ts';
import { projectRoot } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { node, openPrivateMachine } from './private-machine.ts';
import { sha256, standInDeb, standInTree, writeSums } from './stand-in-packages.ts';

const host = 'packages.example.com';

test('docs/install.md brings the program from a folder of one’s own, and nothing that was changed', async () => {
  using directory = temporaryDirectory();
  const place = join(directory.path, 'served/bridge');
  mkdirSync(place, { recursive: true });
  const tree = standInTree(directory.path, { version: '1.0.0' });
  writeSums(place, [standInDeb(place, tree, '1.0.0')]);
  copyFileSync(join(projectRoot, 'infra/install.sh'), join(place, 'install.sh'));
  const { key, cert } = issueCertificate({ names: [host] });
  writeFileSync(join(directory.path, 'key'), key);
  writeFileSync(join(directory.path, 'cert'), cert);

  await using machine = await openPrivateMachine(directory.path);
  const url = await machine.start([
    ...[node, join(projectRoot, 'test/packages/package-server.ts'), join(directory.path, 'served')],
    ...[join(directory.path, 'key'), join(directory.path, 'cert')],
  ]);
  // What a reader has by other means: a name service and an authority that know the folder, and sudo.
  const way = `connect-to = "${host}:443:127.0.0.1:${new URL(url).port}"\ncacert = "${directory.path}/cert"\n`;
  writeFileSync(join(directory.path, '.curlrc'), way);
  const sudo = join(directory.path, 'sudo');
  writeFileSync(sudo, '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  const [block = '', ...others] = blocksRunBy('docs/install.md', 'test/packages/guides.test.ts');
  expect(others).toEqual([]);
  const hash = sha256(join(place, 'SHA256SUMS'));
  const surroundings = `set -eu; mkdir /reader; cd /reader; PATH=${directory.path}:$PATH; export CURL_HOME=${directory.path}`;

  const wrong = await machine.run(`${surroundings}; SUMS_SHA256=${'0'.repeat(64)}\n${block}`);
  expect(wrong.exitCode).toBe(1);
  expect((await machine.run('command -v seb')).exitCode).toBe(1);
  const done = await machine.run(`rm -r /reader; ${surroundings}; SUMS_SHA256=${hash}\n${block}`);
  expect(done.exitCode, done.stderr).toBe(0);
  expect((await machine.run('seb --version')).stdout).toBe('1.0.0\n');
});
