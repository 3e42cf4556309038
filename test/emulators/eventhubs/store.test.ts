// Persistence: what was acknowledged is there again, however the emulator ended.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { openHubSet } from '../../../src/emulators/eventhubs/hub-set.ts';
import { bodiesFrom, producerFor } from '../../support/hub-clients.ts';
import { projectRoot } from '../../support/source-files.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const oneHub = [{ name: 'hub', partitions: 2 }];

const openStore = (storePath: string, more: object = {}) =>
  startEventHubsEmulator({ storePath, hubs: oneHub, ...more });

async function send(
  emulator: EventHubsEmulator,
  bodies: readonly unknown[],
  partitionId = '0',
): Promise<void> {
  await using producer = producerFor(emulator);
  for (const body of bodies) await producer.client.sendBatch([{ body }], { partitionId });
}

const bodiesOf = (emulator: EventHubsEmulator) => emulator.events().map(({ body }) => String(body));

it('has the same events, numbers, times and hubs after a restart', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'store');
  const first = await openStore(path);
  await using producer = producerFor(first);
  await producer.client.sendBatch([{ body: 1, properties: { a: 'b' }, messageId: 'm' }, { body: 2 }], {
    partitionKey: 'key',
  });
  await producer.client.sendBatch([{ body: 3 }], { partitionId: '0' });
  const { createdOn } = await producer.client.getEventHubProperties();
  const before = first.events();
  await first[Symbol.asyncDispose]();
  await using second = await openStore(path);
  expect(second.events()).toEqual(before);
  await using again = producerFor(second);
  expect((await again.client.getEventHubProperties()).createdOn).toEqual(createdOn);
  await send(second, [4]);
  const last = before.filter(({ partition }) => partition === '0').at(-1);
  const added = second
    .events()
    .filter(({ partition }) => partition === '0')
    .at(-1);
  expect(added?.sequenceNumber).toBe((last?.sequenceNumber ?? 0) + 1);
  expect(Number(added?.offset)).toBeGreaterThan(Number(last?.offset));
  expect(await bodiesFrom(second, '0', { offset: last?.offset ?? '' }, 1)).toEqual([4]);
});

it('stores every one of many batches that come at once', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'store');
  const first = await openStore(path);
  {
    await using producer = producerFor(first);
    const bodies = Array.from({ length: 60 }, (_, index) => index);
    await Promise.all(bodies.map((body) => producer.client.sendBatch([{ body }, { body }])));
  }
  const before = first.events();
  await first[Symbol.asyncDispose]();
  await using second = await openStore(path);
  expect(before).toHaveLength(120);
  expect(second.events()).toEqual(before);
});

it.each([1, 11, 12, 60])('cuts off a last write of which %i bytes were written', async (bytes) => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'store');
  const first = await openStore(path);
  await send(first, ['kept']);
  const { size } = statSync(path);
  await send(first, ['torn']);
  await first[Symbol.asyncDispose]();
  truncateSync(path, size + bytes);
  const second = await openStore(path);
  expect(bodiesOf(second)).toEqual(['"kept"']);
  await send(second, ['new']);
  await second[Symbol.asyncDispose]();
  await using third = await openStore(path);
  expect(bodiesOf(third)).toEqual(['"kept"', '"new"']);
});

it('cuts off zeros at the end, and a last record with wrong bytes', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'store');
  const first = await openStore(path);
  await send(first, ['kept', 'spoiled']);
  await first[Symbol.asyncDispose]();
  const bytes = readFileSync(path);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  writeFileSync(path, bytes);
  const second = await openStore(path);
  expect(bodiesOf(second)).toEqual(['"kept"']);
  await second[Symbol.asyncDispose]();
  appendFileSync(path, Buffer.alloc(5_000));
  await using third = await openStore(path);
  expect(bodiesOf(third)).toEqual(['"kept"']);
});

it('refuses a store that is damaged in the middle, and leaves it as it is', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'store');
  const first = await openStore(path);
  await send(first, ['one']);
  const { size } = statSync(path);
  await send(first, ['two', 'three']);
  await first[Symbol.asyncDispose]();
  for (const position of [size + 2, size + 30]) {
    const bytes = readFileSync(path);
    const damaged = Buffer.from(bytes);
    damaged.writeUInt8(bytes.readUInt8(position) ^ 0x40, position);
    writeFileSync(path, damaged);
    await expect(openStore(path)).rejects.toThrow(`is damaged at byte ${size}`);
    expect(readFileSync(path)).toEqual(damaged);
    writeFileSync(path, bytes);
  }
});

it('keeps the partitions that a stored hub has, and says so when others are asked for', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'store');
  await (await openStore(path))[Symbol.asyncDispose]();
  await expect(openStore(path, { hubs: [{ name: 'HUB', partitions: 3 }] })).rejects.toThrow(
    'with 2 partitions, not 3',
  );
  await using emulator = await openStore(path, { hubs: [{ name: 'hub' }, { name: 'more' }] });
  await using producer = producerFor(emulator);
  expect(await producer.client.getPartitionIds()).toEqual(['0', '1']);
});

it('rewrites a store of which most is past retention, and forgets nothing that is kept', async () => {
  using directory = temporaryDirectory();
  const storePath = join(directory.path, 'store');
  const options = {
    requests: oneHub,
    storePath,
    retention: { eventsMax: 3, bytesMax: 1e9 },
    clock: systemClock,
  };
  const { hubs, journal } = await openHubSet(options);
  const hub = hubs.get('hub');
  const [busy, calm] = hub?.partitions ?? [];
  if (hub === undefined || busy === undefined || calm === undefined) throw new Error('no hub');
  await journal.append(hub, calm, [{ partitionKey: 'key', message: Buffer.from('calm') }]);
  const message = Buffer.alloc(1_000_000, 'x');
  for (let count = 0; count < 20; count++)
    await journal.append(hub, busy, [{ partitionKey: undefined, message }]);
  await journal[Symbol.asyncDispose]();
  // 20 MB were written; from 16 MiB on it is worth the effort.
  expect(statSync(storePath).size).toBeLessThan(10_000_000);
  expect(busy.events.map(({ sequenceNumber }) => sequenceNumber)).toEqual([17, 18, 19]);
  const again = await openHubSet(options);
  const restored = again.hubs.get('hub')?.partitions.map(({ events }) => events);
  expect(restored).toEqual([busy.events, calm.events]);
  await again.journal[Symbol.asyncDispose]();
});

it('rewrites a store of many small events once, not with every write', async () => {
  using directory = temporaryDirectory();
  const storePath = join(directory.path, 'store');
  const retention = { eventsMax: 1e6, bytesMax: 1e9 };
  const { hubs, journal } = await openHubSet({ requests: oneHub, storePath, retention, clock: systemClock });
  await using _ = journal;
  const hub = hubs.get('hub');
  const [log] = hub?.partitions ?? [];
  if (hub === undefined || log === undefined) throw new Error('no hub');
  const published = Array.from({ length: 20_000 }, () => ({
    partitionKey: undefined,
    message: Buffer.alloc(9),
  }));
  let file = statSync(storePath).ino;
  let rewrites = 0;
  for (let count = 0; count < 25; count++) {
    await journal.append(hub, log, published);
    const { ino } = statSync(storePath);
    if (ino !== file) rewrites += 1;
    file = ino;
  }
  expect(statSync(storePath).size).toBeGreaterThan(20_000_000);
  expect(rewrites).toBe(1);
});

it('refuses events that the disk has no room for, and goes on with those that fit', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'store');
  const node = `exec ${process.execPath} src/cli.ts emulate eventhubs --partitions 1 --store ${path}`;
  // No file may grow beyond 64 or 128 KiB, depending on how the shell counts.
  const child = spawn('sh', ['-c', `trap '' XFSZ; ulimit -f 128; ${node}`], { cwd: projectRoot });
  await using _ = { [Symbol.asyncDispose]: () => end(child) };
  const [line] = await once(child.stdout, 'data');
  await using producer = producerFor(JSON.parse(String(line)), { maxRetries: 0 });
  await producer.client.sendBatch([{ body: 'small' }]);
  const large = producer.client.sendBatch([{ body: Buffer.alloc(300_000) }]);
  await expect(large).rejects.toMatchObject({
    code: 'InternalServerError',
    message: expect.stringContaining('EFBIG'),
  });
  await producer.client.sendBatch([{ body: 'small again' }]);
  await end(child);
  await using emulator = await startEventHubsEmulator({ storePath: path });
  expect(bodiesOf(emulator)).toEqual(['"small"', '"small again"']);
  expect(emulator.events().map(({ sequenceNumber }) => sequenceNumber)).toEqual([0, 1]);
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
