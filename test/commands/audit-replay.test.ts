// `seb audit replay`: whether the trail says what the hub says, and what it lacks at its end.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openSigner } from '../../src/audit/signing.ts';
import type { TrailStore } from '../../src/audit/store.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { runCommandLine } from '../support/command-line.ts';
import { linesInHub, linesInTrail } from '../support/hub-and-trail.ts';
import { producerFor } from '../support/hub-clients.ts';
import { keyBeside, startConsumer } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { sqliteWorld } from '../support/trail/sqlite-world.ts';
import { headsOf, journalOf, positionIn } from '../support/trail/world.ts';
import { until } from '../support/until.ts';

// One hub with 12 events in partition 0 and 3 in partition 1, which every test reads into a trail of its own.
let hub: EventHubsEmulator;
beforeAll(async () => {
  hub = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 2 }] });
  await using producer = producerFor(hub);
  const send = (event: number, partitionId: string) =>
    producer.client.sendBatch(
      liveMigration(event).map((body) => ({ body })),
      { partitionId },
    );
  for (let event = 0; event < 4; event++) await send(event, '0');
  await send(9, '1');
  await until('all events', () => hub.events().length === 15);
});
afterAll(() => hub[Symbol.asyncDispose]());

const withoutBody = ({ at: _at, ...fact }: { readonly at: number }) => fact;

async function emptyTrail() {
  const world = sqliteWorld();
  const keyFile = keyBeside(world.path);
  const file = join(dirname(world.path), 'consumer.yaml');
  const { connectionString, eventHubName } = hub;
  const settings = {
    hub: { connectionString, eventHubName },
    trail: { path: world.path },
    signing: { keyFile },
  };
  writeFileSync(file, JSON.stringify(settings));
  const replay = async (...words: string[]) => {
    const run = await runCommandLine(['audit', 'replay', '-c', file, '-o', 'jsonl', ...words]);
    const rows = run.stdout.split('\n').filter((line) => line !== '');
    return { ...run, rows: rows.map((line) => JSON.parse(line)) };
  };
  const open = () => world.open({ sign: openSigner([keyFile]).sign });
  return { ...world, world, replay, open };
}

async function streamIn(trail: TrailStore, partition: number): Promise<string> {
  const names = (await headsOf(trail)).filter(({ kind }) => kind === 'hub').map(({ name }) => name);
  return names.find((name) => name.split('/')[2] === String(partition)) ?? '';
}

it('reads an empty trail full, finds it the same afterwards, and says so in the journal', async () => {
  await using given = await emptyTrail();
  expect(await given.replay()).toMatchObject({
    exitCode: 0,
    stderr: '',
    rows: [
      { partition: '0', from: 0, to: 11, compared: 0, different: 0, missing: 0, appended: 12 },
      { partition: '1', from: 0, to: 2, compared: 0, different: 0, missing: 0, appended: 3 },
    ],
  });
  expect(linesInTrail(given.path)).toEqual(linesInHub(hub));
  expect(await given.replay('--partition', '0')).toMatchObject({
    exitCode: 0,
    rows: [{ partition: '0', compared: 12, different: 0, missing: 0, appended: 0, differences: [] }],
  });
  await using trail = await given.open();
  const stream = await streamIn(trail, 0);
  const facts = (await journalOf(given.world, trail)).filter(({ kind }) => kind === 'replayed');
  expect(facts.map(withoutBody)).toMatchObject([
    { stream, from: 0, to: 11, different: 0 },
    { from: 0, to: 2, different: 0 },
    { stream, from: 0, to: 11, different: 0 },
  ]);
  expect((await headsOf(trail)).every(({ note }) => note !== null)).toBe(true);
});

it('names what the trail says otherwise than the hub: bytes, hashes, times and events that are not the hub’s', async () => {
  await using given = await emptyTrail();
  await given.replay('--partition', '0');
  const ofStream = `stream = (SELECT min(stream) FROM entry)`;
  await given.tamper(
    `UPDATE entry SET body = CAST('forged' AS BLOB) WHERE ${ofStream} AND seq = 2`,
    `UPDATE entry SET body = NULL, body_sha256 = zeroblob(32) WHERE ${ofStream} AND seq = 4`,
    `UPDATE entry SET enqueued_ms = enqueued_ms - 1 WHERE ${ofStream} AND seq = 6`,
    // Pruned, which is no difference.
    `UPDATE entry SET body = NULL WHERE ${ofStream} AND seq < 2`,
  );
  const run = await given.replay('--partition', '0');
  expect(run).toMatchObject({
    exitCode: 10,
    rows: [
      {
        ...{ compared: 12, different: 3, missing: 0, appended: 0 },
        differences: [
          { sequenceNumber: 2, kind: 'other-bytes' },
          { sequenceNumber: 4, kind: 'other-bytes' },
          { sequenceNumber: 6, kind: 'other-time' },
        ],
      },
    ],
  });
  expect(run.stderr).toMatch(/sequence number 2: the trail holds other bytes than the hub\n/);
  expect(await given.replay('--partition', '0', '--from-sequence-number', '5')).toMatchObject({
    exitCode: 10,
    rows: [{ from: 5, to: 11, compared: 7, different: 1 }],
  });
  expect(await given.replay('--partition', '0', '--from-sequence-number', '7')).toMatchObject({
    exitCode: 0,
    rows: [{ from: 7, compared: 5 }],
  });
});

it('goes on behind the trail’s end, and says what is missing in the middle of it', async () => {
  await using given = await emptyTrail();
  const events = hub.events().filter(({ partition }) => partition === '0');
  const [first] = events;
  if (first === undefined) throw new Error('the hub is empty');
  await given.replay('--partition', '1');
  await using trail = await given.open();
  const stream = (await streamIn(trail, 1)).replace('/1/', '/0/');
  const bodies = events.map(({ sequenceNumber, body, enqueuedAt: enqueuedMs }) => ({
    ...{ sequenceNumber, enqueuedMs, body: Buffer.from(body) },
  }));
  const some = bodies.filter(({ sequenceNumber }) => [1, 2, 5, 6].includes(sequenceNumber));
  await trail.append(stream, { size: 0, lastSequenceNumber: -1 }, some);
  const run = await given.replay('--partition', '0');
  expect(run).toMatchObject({
    exitCode: 11,
    rows: [
      {
        ...{ from: 0, to: 11, compared: 4, different: 0, missing: 3, appended: 5 },
        differences: [0, 3, 4].map((sequenceNumber) => ({ sequenceNumber, kind: 'not-in-trail' })),
      },
    ],
  });
  expect(await positionIn(trail, stream)).toEqual({ size: 9, lastSequenceNumber: 11 });
  // Begun behind the trail's end, it still begins at it: else there would be a hole.
  expect(await given.replay('--partition', '0', '--from-sequence-number', '99')).toMatchObject({
    exitCode: 0,
    rows: [{ compared: 0, appended: 0 }],
  });
  const beyond = { sequenceNumber: 12, enqueuedMs: 0, body: Buffer.from('forged') };
  await trail.append(stream, { size: 9, lastSequenceNumber: 11 }, [beyond]);
  expect(await given.replay('--partition', '0', '--from-sequence-number', '7')).toMatchObject({
    exitCode: 10,
    rows: [{ different: 1, differences: [{ sequenceNumber: 12, kind: 'not-in-hub' }] }],
  });
});

it('names what stands between two events of the hub and is none of them', async () => {
  await using given = await emptyTrail();
  await given.replay('--partition', '0');
  // Two numbers that the hub has go, and one that it does not have comes in their place.
  await given.tamper(
    'UPDATE stream SET last_seq = last_seq + 1 WHERE id = 1',
    'UPDATE entry SET seq = seq + 1 WHERE stream = 1 AND seq = 11',
    'UPDATE entry SET seq = seq + 1 WHERE stream = 1 AND seq = 10',
  );
  const run = await given.replay('--partition', '0');
  expect(run.exitCode).toBe(10);
  expect(run.rows[0].differences).toEqual([
    { sequenceNumber: 12, kind: 'not-in-hub' },
    { sequenceNumber: 10, kind: 'not-in-trail' },
    { sequenceNumber: 11, kind: 'other-bytes' },
  ]);
});

it('is safe beside a consumer that reads at the same time: every event once', async () => {
  await using given = await emptyTrail();
  await using consumer = startConsumer(given.path, hub);
  const runs = await Promise.all([given.replay('--partition', '0'), given.replay('--partition', '1')]);
  expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual([
    [0, ''],
    [0, ''],
  ]);
  await consumer.reading();
  await until('both to be done', () => linesInTrail(given.path).length >= 15);
  await consumer.stop();
  expect(linesInTrail(given.path)).toEqual(linesInHub(hub));
  await using trail = await given.open();
  expect(await trail.check()).toMatchObject({ entries: 15, different: [], damaged: [] });
});

it('makes the answers anew from the entries, and names what changed', async () => {
  await using given = await emptyTrail();
  await given.replay();
  expect(await given.replay('--rebuild')).toMatchObject({ exitCode: 0, rows: [] });
  await given.tamper(`UPDATE event SET status = 'canceled'`, 'DELETE FROM agent');
  expect(await given.replay('--rebuild')).toMatchObject({
    exitCode: 10,
    rows: [{ projection: 'event' }, { projection: 'agent' }],
  });
  expect(await given.replay('--rebuild')).toMatchObject({ exitCode: 0, rows: [] });
  await given.tamper(`UPDATE entry SET body = CAST('forged' AS BLOB) WHERE seq = 1 AND stream = 1`);
  const run = await given.replay('--rebuild');
  expect(run.exitCode).toBe(10);
  expect(run.stderr).toContain(', index 1: its bytes do not match its hash');
});

it('refuses what makes no sense, and says why a hub cannot be read', async () => {
  await using given = await emptyTrail();
  const refused: readonly (readonly [readonly string[], number, string])[] = [
    [['--partition', '7'], 2, 'the hub fleet has no partition "7"'],
    [['--from-sequence-number', '5'], 2, '--from-sequence-number belongs to one --partition'],
    [['--rebuild', '--partition', '0'], 2, '--partition has no meaning with --rebuild'],
    [
      ['--consumer-group', 'nobodys'],
      1,
      'the hub cannot be read: not-found; the namespace has no hub of that name, or the hub no such consumer group',
    ],
  ];
  for (const [words, code, sentence] of refused) {
    const run = await given.replay(...words);
    expect(run.stderr).toContain(sentence);
    expect(run.exitCode, words.join(' ')).toBe(code);
  }
});
