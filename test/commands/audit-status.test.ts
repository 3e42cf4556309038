// `seb audit status`: what the trail says of itself, at a glance.
import { afterAll, expect, test } from 'vitest';
import { openFolderFiles } from '../../src/audit/archive/folder-files.ts';
import { openArchiveWriter } from '../../src/audit/archive/writer.ts';
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import { runCommandLine } from '../support/command-line.ts';
import { fillHonestly, type Keeper, streamOf } from '../support/honest-trail.ts';
import { asHubEvents, freeze, saying, synthesisAt } from '../support/synthetic.ts';
import { honestKey, keptTrail } from '../support/verifying.ts';

/** A trail to which everything happened that is worth telling. */
async function eventful(keeper: Keeper): Promise<void> {
  await fillHonestly(keeper);
  const stream = streamOf(2);
  const holed = [1, 2, 5, 9].map((sequence) =>
    saying({ kind: 'scheduled', vm: 77, sequence, event: freeze(sequence) }),
  );
  await keeper.append(2, asHubEvents([...holed, 'no record', '{}']), [
    { kind: 'gap', stream: streamOf(0), from: 24, to: 30 },
  ]);
  await keeper.store.prune(synthesisAt + 3_000);
  await keeper.journal(
    { kind: 'held', hold: 'case 7' },
    { kind: 'held', hold: 'case 8' },
    { kind: 'released', hold: 'case 7' },
    { kind: 'anchor-failed', anchor: 'elsewhere', size: 6, reason: 'unreachable' },
    { kind: 'conflict', stream, index: 0, source: 's', id: 'i' },
    { kind: 'consumer-stopped', instance: 'one' },
  );
  await keeper.seal();
}

const kept = await keptTrail(eventful);
afterAll(() => kept[Symbol.dispose]());

test('JSON tells of streams, seals, anchors, keys, gaps, parked, pruned, holds, agents and consumers', async () => {
  const { exitCode, stdout } = await runCommandLine(['audit', 'status', '--trail', kept.path, '-o', 'json']);
  expect(exitCode).toBe(0);
  const at = new Date(kept.keeper.clock.at).toISOString();
  expect(JSON.parse(stdout)).toMatchObject({
    schema: 'seb.audit-status.v1',
    place: kept.path,
    lastSeal: { index: 5, at },
    anchors: [{ anchor: 'elsewhere', taken: { size: 5 }, failed: { reason: 'unreachable' } }],
    keys: [honestKey.verifier.text],
    consumers: [{ instance: 'one', version: '1.0.0' }],
    gaps: [{ stream: streamOf(0), from: 24, to: 30 }],
    parked: { 'not-json': 1, 'not-a-cloudevent': 1 },
    pruned: { [streamOf(0)]: 3, [streamOf(1)]: 3, [streamOf(2)]: 3 },
    ...{ holds: ['case 8'], conflicts: 1 },
    agentsWithHoles: [
      {
        agentId: 'instance-77',
        vmName: 'web-77',
        missing: [
          [3, 4],
          [6, 8],
        ],
      },
    ],
  });
  const { streams } = JSON.parse(stdout);
  expect(streams).toHaveLength(5);
  expect(streams[0]).toMatchObject({ kind: 'hub', size: 24, signedBy: [honestKey.verifier.name] });
});

test('lines say the same to a person', async () => {
  const { exitCode, stdout } = await runCommandLine(['audit', 'status', '--trail', kept.path, '--utc']);
  expect(exitCode).toBe(0);
  const lines = stdout.split('\n');
  expect(lines).toContain(`stream ${streamOf(0)}: 24 entries, signed by ${honestKey.verifier.name}`);
  expect(lines).toContain('agent instance-77 on web-77: records 3 to 4, 6 to 8 are missing');
  expect(lines).toContain('parked: not-json 1, not-a-cloudevent 1');
  expect(lines).toContain('legal holds: case 8');
  expect(stdout).toMatch(/^last seal: number 5, 2026-11-10 22:03:00Z \(.* ago\)$/m);
  expect(stdout).toMatch(/^anchor elsewhere: took 5 seals, .* ago\); failed .*: unreachable$/m);
  expect(stdout).toMatch(new RegExp(`^gap in ${streamOf(0)}: 24 to 30, found `, 'm'));
});

test('an exported folder tells the same, but for what only a store can answer', async () => {
  const folder = kept.copy('export');
  const { rmSync } = await import('node:fs');
  rmSync(folder);
  await using source = openSqliteSource(kept.path);
  await using files = openFolderFiles(folder);
  await openArchiveWriter(files).copy(source, { signal: new AbortController().signal, heads: 'all' });
  const { exitCode, stdout } = await runCommandLine(['audit', 'status', '--trail', folder, '-o', 'json']);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    lastSeal: { index: 5 },
    holds: ['case 8'],
    agentsWithHoles: null,
  });
});

test('a trail that is not there is told in one sentence', async () => {
  const { exitCode, stdout, stderr } = await runCommandLine([
    'audit',
    'status',
    '--trail',
    '/nowhere/trail.db',
  ]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toBe(
    'seb: there is no trail at /nowhere/trail.db; "seb consumer" makes it when it first runs\n',
  );
});
