// `seb vms`: the fleet, and which of its agents are heard of.
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { emptyStream } from '../../src/audit/store.ts';
import { vms } from '../../src/commands/vms.ts';
import { runCommandLine } from '../support/command-line.ts';
import { asHubEvents, freeze, saying, synthesisAt, vmIdOf } from '../support/synthetic.ts';
import { beating } from '../support/synthetic-deeds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { stage } from '../support/terminal.ts';

/** A fleet that was heard of a minute ago: one as it should be, one asleep, one silent since long, one evicted. */
async function someFleet(directory: string): Promise<string> {
  const path = join(directory, 'trail.db');
  const after = Date.now() - synthesisAt - 60_000;
  const preempt = freeze(1, { eventType: 'Preempt', resources: ['web-3'], notBefore: null });
  const records = [
    beating({}, { vm: 10, after, sequence: 1 }),
    saying({
      kind: 'scheduled',
      vm: 10,
      after,
      sequence: 5,
      event: freeze(0, { resources: ['WEB-10', 'web-2'] }),
    }),
    beating({ source: { state: 'failing', lastDocumentAt: null } }, { vm: 2, after }),
    beating({}, { vm: 1 }),
    beating({}, { vm: 3, after: after - 60_000 }),
    saying({ kind: 'scheduled', vm: 10, after: after - 30_000, sequence: 6, event: preempt }),
    saying({ kind: 'completed', vm: 10, after, sequence: 7, event: preempt }),
  ];
  await using trail = openSqliteTrail(path);
  await trail.append('ns/hub/0/epoch', emptyStream, asHubEvents(records));
  return path;
}

test('a terminal gets one row per VM in the order of their numbers, and those that are gone only when asked for', async () => {
  using directory = temporaryDirectory();
  const path = await someFleet(directory.path);
  const { context, stdout } = stage({ trail: path, utc: true }, 200);
  expect(await vms.run(context)).toBe(0);
  const [head = '', ...rows] = stripVTControlCharacters(stdout.text).trim().split('\n');
  expect(head).toMatch(/^VM +STATE +LAST HEARD +VERSION +FD +SCALE SET +MISSING +EVENTS$/);
  expect(rows.map((row) => row.split(/\s+/).filter((_, at) => at < 2 || at > 4))).toEqual([
    ['web-1', 'silent', '1', 'web', '0', '0'],
    ['web-2', 'asleep', '2', 'web', '0', '1'],
    ['web-10', 'heard', '0', 'web', '3', '1'],
  ]);
  const gone = await runCommandLine(['vms', '--trail', path, '--state', 'gone']);
  expect(gone.stdout).toMatch(/^web-3\tgone\t/);
});

test('JSON carries what is known of each VM and its agent', async () => {
  using directory = temporaryDirectory();
  const path = await someFleet(directory.path);
  const { stdout } = await runCommandLine(['vms', '--trail', path, '--state', 'silent', '-o', 'json']);
  expect(JSON.parse(stdout)).toEqual([
    {
      ...{ vmName: 'web-1', state: 'silent', lastAt: '2026-11-10T22:00:00.000Z', version: '1.0.0' },
      ...{ faultDomain: '1', vmScaleSet: 'web', missing: 0, openEvents: 0 },
      ...{ since: '2026-11-10T22:00:00.000Z', expectedBy: '2026-11-10T23:31:00.000Z' },
      ...{ agentId: 'instance-1', vmId: vmIdOf(1), resourceId: null, location: null, zone: null },
      ...{ placementGroupId: null, sourceState: 'fresh', lastDocumentAt: '2026-11-10T22:00:00.000Z' },
      ...{ heartbeatIntervalMs: 3_600_000, firstAt: '2026-11-10T22:00:00.000Z' },
    },
  ]);
});

test('mistakes on the command line are told before the trail is touched', async () => {
  for (const words of [
    ['--state', 'dead'],
    ['-o', 'xml'],
  ]) {
    const { exitCode, stderr } = await runCommandLine(['vms', '--trail', '/nowhere', ...words]);
    expect(exitCode, words.join(' ')).toBe(2);
    expect(stderr).toContain(`"${words[1]}"`);
  }
  expect(await runCommandLine(['vms', '--trail', '/nowhere'])).toMatchObject({ exitCode: 1, stdout: '' });
});
