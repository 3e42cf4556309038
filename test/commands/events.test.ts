// `seb events`: the first table of what the trail holds.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { emptyStream } from '../../src/audit/store.ts';
import { events } from '../../src/commands/events.ts';
import { runCommandLine } from '../support/command-line.ts';
import { asHubEvents, eventIdOf, freeze, liveMigration, saying, synthesisAt } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { stage } from '../support/terminal.ts';

/** A trail with a live migration that three VMs saw, and a reboot that is still to come an hour later. */
async function someTrail(directory: string): Promise<string> {
  const path = join(directory, 'trail.db');
  const reboot = freeze(1, { eventType: 'Reboot', resources: ['db-1'] });
  const records = [
    ...[0, 1, 2].flatMap((vm) => liveMigration(0, vm)),
    saying({ kind: 'scheduled', event: reboot, after: 3_600_000 }),
  ];
  await using trail = openSqliteTrail(path);
  await trail.append('ns/hub/0/epoch', emptyStream, asHubEvents(records));
  return path;
}

const [migrated, rebooted] = [0, 1].map((event) => eventIdOf(event).toLowerCase());

test('a pipe gets one line per event with the inferred end marked', async () => {
  using directory = temporaryDirectory();
  const path = await someTrail(directory.path);
  const { exitCode, stdout, stderr } = await runCommandLine(['events', '--trail', path, '--utc']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout.split('\n')).toEqual([
    `2026-11-10 22:00:00Z\t${migrated}\tFreeze\t~completed\t~completed\t3\t2026-11-10 22:15:00Z\tweb-0 web-1`,
    `2026-11-10 23:00:00Z\t${rebooted}\tReboot\tscheduled\t\t1\t\tdb-1`,
    '',
  ]);
});

test('a terminal gets a table in the zone that was asked for', async () => {
  using directory = temporaryDirectory();
  const path = await someTrail(directory.path);
  const { context, stdout } = stage({ trail: path, tz: 'Europe/Oslo' }, 200);
  expect(await events.run(context)).toBe(0);
  const [head = '', first = ''] = stripVTControlCharacters(stdout.text).split('\n');
  expect(head).toMatch(/^FIRST SEEN +EVENT +TYPE +STATUS +OUTCOME +OBSERVERS +STARTED +VMS$/);
  expect(first).toContain('2026-11-10 23:00:00+01:00');
});

test('JSON carries the names of the design and plain values', async () => {
  using directory = temporaryDirectory();
  const path = await someTrail(directory.path);
  const { stdout } = await runCommandLine(['events', '--trail', path, '-o', 'json', '--type', 'freeze']);
  expect(JSON.parse(stdout)).toEqual([
    {
      firstSeenAt: new Date(synthesisAt).toISOString(),
      eventId: migrated,
      eventType: 'Freeze',
      status: 'completed',
      outcome: 'completed',
      observers: 3,
      startedAt: '2026-11-10T22:15:00.000Z',
      vms: ['web-0', 'web-1'],
      outcomeInferred: true,
      eventSource: 'Platform',
      notBefore: '2026-11-10T22:15:00.000Z',
      durationSeconds: 5,
      description: 'Host server is undergoing maintenance.',
      scheduledAt: '2026-11-10T22:00:00.000Z',
      updatedAt: null,
      endedAt: '2026-11-10T22:16:00.000Z',
      lastSeenAt: '2026-11-10T22:16:00.002Z',
      phaseObservers: { scheduled: 3, updated: 0, started: 3, completed: 3, canceled: 0 },
    },
  ]);
});

test('events are narrowed by time, VM, number and whether they are over', async () => {
  using directory = temporaryDirectory();
  const path = await someTrail(directory.path);
  const idsFor = async (...words: string[]) => {
    const { stdout } = await runCommandLine(['events', '--trail', path, '-o', 'jsonl', '--utc', ...words]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => (JSON.parse(line) as { eventId: string }).eventId);
  };
  expect(await idsFor()).toEqual([migrated, rebooted]);
  expect(await idsFor('--since', '2026-11-10 22:30')).toEqual([rebooted]);
  expect(await idsFor('--until', '2026-11-10 22:30')).toEqual([migrated]);
  expect(await idsFor('--vm', 'WEB-1')).toEqual([migrated]);
  expect(await idsFor('--limit', '1')).toEqual([rebooted]);
  expect(await idsFor('--open')).toEqual([rebooted]);
  expect(await idsFor('--since', 'yesterday', '--until', '2026-01-01')).toEqual([]);
});

test('the trail of a configuration file is found through it', async () => {
  using directory = temporaryDirectory();
  const path = await someTrail(directory.path);
  const file = join(directory.path, 'consumer.yaml');
  writeFileSync(
    file,
    `hub: { fullyQualifiedNamespace: ns.example, eventHubName: fleet }\ntrail: { path: ${path} }\n`,
  );
  const { stdout } = await runCommandLine(['events', '-c', file]);
  expect(stdout.split('\n')).toHaveLength(3);
});

test('a missing trail is refused with one sentence and is not made', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const { exitCode, stdout, stderr } = await runCommandLine(['events', '--trail', path]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toBe(`seb: there is no trail at ${path}; "seb consumer" makes it when it first runs\n`);
  expect(existsSync(path)).toBe(false);
});

test('mistakes on the command line are told before the trail is touched', async () => {
  const mistakes = [
    ['--since', 'whenever'],
    ['--limit', '0'],
    ['-o', 'xml'],
    ['--tz', 'Mars'],
  ];
  for (const words of mistakes) {
    const { exitCode, stderr } = await runCommandLine(['events', '--trail', '/nowhere', ...words]);
    expect(exitCode, words.join(' ')).toBe(2);
    expect(stderr).toContain(`"${words[1]}"`);
  }
});
