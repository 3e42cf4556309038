// Whether the .rpm holds what the .deb holds, is the same whenever it is built, and treats a machine with respect.
import { spawnSync } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payloadOf } from '../../scripts/package/payload.ts';
import { buildRpm } from '../../scripts/package/rpm.ts';
import { version } from '../../src/version.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';
import { sha256 } from './stand-in-packages.ts';
import { built, planElsewhere, sharedPlan } from './support/built.ts';
import { type Machine, openMachine } from './support/installed.ts';

const services = ['scheduled-events-bridge-agent.service', 'scheduled-events-bridge-consumer.service'];
let directory: TemporaryDirectory;
let rpm: string;

const ask = (...words: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync('rpm', ['-qp', ...words, rpm], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout;
};

beforeAll(async () => {
  directory = temporaryDirectory();
  rpm = await built('rpm');
});

afterAll(() => directory[Symbol.dispose]());

describe('the package', () => {
  it('says what it is and what it needs', () => {
    expect(basename(rpm)).toBe(`scheduled-events-bridge-${version}-1.x86_64.rpm`);
    expect(ask('--qf', '%{NAME} %{VERSION} %{RELEASE} %{ARCH} %{OS} %{LICENSE} %{BUILDHOST}')).toBe(
      `scheduled-events-bridge ${version} 1 x86_64 linux MIT reproducible`,
    );
    const needed = ask('--requires');
    expect(needed).toContain('libc.so.6(GLIBC_2.28)(64bit)');
    expect(needed).not.toMatch(/GLIBC_2\.(29|[3-9]\d)/);
    // Rpm of RHEL 8 and SLES 15 can read nothing newer.
    expect(needed).not.toMatch(/PayloadIsZstd|LargeFiles|TildeInVersions/);
  });

  it('holds the files of the payload, each of root and with its mode', async () => {
    const lines = ask('--qf', '[%{FILEMODES} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILENAMES}\n]')
      .trim()
      .split('\n');
    const found = new Map(lines.map((line) => [line.split(' ')[2], line]));
    const meant = (await payloadOf(sharedPlan())).filter(({ path }) => !path.endsWith('/changelog.gz'));
    const types = { file: 0o100000, directory: 0o040000, link: 0o120000 };
    for (const { path, mode, kind } of meant)
      expect(found.get(`/${path}`)).toBe(`${types[kind] + mode} root:root /${path}`);
    // And its own folders of the library and the documentation.
    expect(found.size).toBe(meant.length + 6);
  });

  it('ships no live configuration', () => {
    expect(ask('--configfiles')).toBe('');
  });

  it('is the same byte for byte when it is built again elsewhere', async () => {
    const plan = planElsewhere(directory.path);
    expect(sha256(await buildRpm(plan))).toBe(sha256(rpm));
  });
});

describe('a machine', () => {
  let machine: Machine;
  const put = (how: string) => machine.run(`rpm --dbpath /var/lib/rpm-of-test ${how}`);
  const file = () => basename(rpm);
  const dropIn = '/usr/lib/systemd/system/scheduled-events-bridge-consumer.service.d/older-systemd.conf';

  beforeAll(async () => {
    machine = await openMachine(directory.path, rpm);
  });

  afterAll(() => machine[Symbol.asyncDispose]());

  it('has the program afterwards, and nothing was enabled, preset or started', async () => {
    expect(await put(`-i --nodeps ${file()}`)).toContain('nothing was started');
    expect(await machine.run('seb --version')).toBe(`${version}\n`);
    expect(await machine.asked()).not.toMatch(/enable|preset|start (?!.*try)(?<!try-restart )/);
    expect(await put('-V --nodeps scheduled-events-bridge')).toBe('');
    expect(await machine.run("stat -c '%a %U' /etc/scheduled-events-bridge/credentials")).toBe('700 root\n');
    expect(await machine.run(`ls ${dirname(dropIn)} 2>&1 || true`)).toContain('No such file');
  });

  it('goes on running with the new program after an upgrade, and an older systemd gets its drop-in', async () => {
    await machine.run('echo 239 > /etc/systemd-version; : > /var/log/asked');
    await put(`-U --nodeps --replacepkgs ${file()}`);
    const asked = await machine.asked();
    for (const unit of services) expect(asked.split('\n')).toContain(`try-restart ${unit}`);
    expect(asked).not.toMatch(/\b(enable|disable|stop)\b/);
    expect(await machine.run(`cat ${dropIn}`)).toContain('CREDENTIALS_DIRECTORY');
  });

  it('stops and forgets the services when the package goes, and keeps what they wrote', async () => {
    await machine.run(
      'mkdir -p /var/lib/scheduled-events-bridge; touch /var/lib/scheduled-events-bridge/outbox.db',
    );
    await put('-e scheduled-events-bridge');
    const asked = await machine.asked();
    expect(asked).toMatch(/disable .*scheduled-events-bridge-agent\.service/);
    expect(asked).toMatch(/^stop .*scheduled-events-bridge-consumer\.service/m);
    expect(asked.trim().split('\n').at(-1)).toBe('daemon-reload');
    expect(await machine.run('ls /var/lib/scheduled-events-bridge')).toBe('outbox.db\n');
    const left = await machine.run(
      'find /usr/lib /usr/bin /usr/share /etc -xdev -name "*scheduled-events-bridge*"',
    );
    expect(left).toBe('');
  });
});
