// Has cloud-init itself check and run infra/cloud-init/agent.yaml, on a copy-on-write view of this machine.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { issueCertificate } from '../support/certificate.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { type Ended, node, openPrivateMachine, type PrivateMachine } from './private-machine.ts';
import { standInDeb, standInTree } from './stand-in-packages.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const source = join(project, 'infra/cloud-init/agent.yaml');
const page = readFileSync(join(project, 'infra/cloud-init/README.md'), 'utf8');
const secret = 'https://hooks.slack.com/services/T/B/not-a-secret';
const clientId = '11111111-2222-3333-4444-555555555555';

let directory: TemporaryDirectory;
let packages: string;

beforeAll(() => {
  directory = temporaryDirectory();
  packages = join(directory.path, 'packages');
  mkdirSync(packages);
  standInDeb(packages, standInTree(directory.path, { version: '1.0.0' }), '1.0.0');
  copyFileSync(join(project, 'infra/install.sh'), join(packages, 'install.sh'));
  copyFileSync(source, join(packages, 'agent.yaml'));
  const { key, cert } = issueCertificate();
  writeFileSync(join(directory.path, 'key'), key);
  writeFileSync(join(directory.path, 'cert'), cert);
});
afterAll(() => directory[Symbol.dispose]());

const schemaOf = (path: string) =>
  spawnSync('cloud-init', ['schema', '--config-file', path], { encoding: 'utf8' });

test('cloud-init finds it valid, and would not if it were not', () => {
  expect(schemaOf(source).status).toBe(0);
  const wrong = join(directory.path, 'wrong.yaml');
  writeFileSync(wrong, readFileSync(source, 'utf8').replace('permissions: "0755"', 'permissions: [7]'));
  expect(schemaOf(wrong).status).not.toBe(0);
});

test('shellcheck has nothing to say about the scripts in it', () => {
  const { write_files: files } = parse(readFileSync(source, 'utf8')) as {
    write_files: { path: string; content: string }[];
  };
  const scripts = files.filter(({ content }) => content.startsWith('#!'));
  expect(scripts).toHaveLength(2);
  for (const { path, content } of scripts) {
    const { stdout } = spawnSync('shellcheck', ['-'], { input: content, encoding: 'utf8' });
    expect(`${path}\n${stdout}`).toBe(`${path}\n`);
  }
});

// Nothing but what our file uses: other modules would look after disks, keys and the name of the machine.
const distribution = `datasource_list: [NoCloud]
cloud_init_modules: [write-files]
cloud_config_modules: [runcmd]
cloud_final_modules: [scripts-user]
network: { config: disabled }
system_info: { distro: debian }
`;

interface FirstBoot extends Ended {
  readonly machine: PrivateMachine;
}

/** Fills the file in as its page says, and has cloud-init live through a first boot with it. */
async function firstBoot(machine: PrivateMachine, change: (userData: string) => string): Promise<FirstBoot> {
  const [key, cert] = [join(directory.path, 'key'), join(directory.path, 'cert')];
  const start = (script: string, ...words: string[]) =>
    machine.start([node, join(project, 'test/packages', script), ...words]);
  const place = await start('package-server.ts', packages, key, cert);
  const { metadata, vault } = JSON.parse(
    await start('vault-server.ts', key, cert, 'slack-url', secret, clientId),
  ) as Record<'metadata' | 'vault', string>;
  const command = /```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const words = `PLACE=${place} VERSION=1.0.0 NAMESPACE=example VAULT=example IDENTITY_CLIENT_ID=${clientId}`;
  const filled = await machine.run(`cd ${packages} && export ${words}\n${command}`);
  expect(filled).toMatchObject({ exitCode: 0, stderr: '' });
  const userData = readFileSync(join(packages, 'cloud-init.yaml'), 'utf8')
    .replace('http://169.254.169.254', metadata)
    .replace('https://example.vault.azure.net', vault);
  const seed = '/var/lib/cloud/seed/nocloud';
  await machine.run(
    `rm -rf /var/lib/cloud /etc/cloud/cloud.cfg.d; mkdir -p ${seed}; echo 'instance-id: one' > ${seed}/meta-data`,
  );
  await machine.run(`cat > ${seed}/user-data`, change(userData));
  await machine.run('mkdir -p /etc/cloud; cat > /etc/cloud/cloud.cfg', distribution);
  const boot = ['init --local', 'init', 'modules --mode config', 'modules --mode final'];
  const ended = await machine.run(
    `export CURL_CA_BUNDLE=${cert} PAUSE_SECONDS=0\n${boot.map((stage) => `cloud-init ${stage}`).join(' && ')}`,
  );
  return { ...ended, machine };
}

test('at the first boot the package is installed, the agent enabled, and the secret fetched for root alone', async () => {
  await using machine = await openPrivateMachine(directory.path);
  const { exitCode, stdout, stderr } = await firstBoot(machine, (userData) => userData);
  expect(stdout + stderr).toContain('scheduled-events-bridge_1.0.0_amd64.deb is installed');
  expect(exitCode).toBe(0);
  const enabled = await machine.run('systemctl is-enabled scheduled-events-bridge-agent.service');
  expect(enabled.stdout).toBe('enabled\n');
  expect((await machine.run('seb config show')).stdout).toContain('example.servicebus.windows.net');
  const folder = '/etc/scheduled-events-bridge/credentials';
  const credential = await machine.run(
    `cat ${folder}/slack.url; stat -c ' %a %U' ${folder}/slack.url; ls -A ${folder}`,
  );
  expect(credential.stdout).toBe(`${secret} 600 root\nslack.url\n`);
  expect(stdout + stderr).toContain('attempt 1 of 15 failed');
  const told = await machine.run(`grep -rlF ${secret} /var/log /var/lib/cloud /run`);
  expect(told.stdout).toBe('');
  expect(stdout + stderr).not.toContain(secret);
});

test('an installer or a package with another hash is refused, nothing is installed, and cloud-init says that it failed', async () => {
  for (const word of ['installer_sha256', 'package_sha256']) {
    await using machine = await openPrivateMachine(directory.path);
    const wrong = (userData: string): string =>
      userData.replace(new RegExp(`${word}=\\w+`), `${word}=${'0'.repeat(64)}`);
    const { exitCode } = await firstBoot(machine, wrong);
    expect(exitCode).not.toBe(0);
    expect((await machine.run('command -v seb; ls /etc/scheduled-events-bridge')).stdout).toBe(
      'agent.yaml\n',
    );
  }
});
