// Outages of hub, connection and store: the consumer waits, says so once, and leaves nothing out.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EventHubConsumerClient } from '@azure/event-hubs';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { linesInHub, linesInTrail } from '../support/hub-and-trail.ts';
import { journalFacts } from '../support/journal-facts.ts';
import { ask, entriesIn, openSender, startConsumer } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const smallHub = (more: object = {}): Promise<EventHubsEmulator> =>
  startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 2 }], ...more });

test.concurrent('after a dropped connection the same reader goes on, without a word', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using consumer = startConsumer(path, emulator);
  await consumer.reading();
  for (let round = 1; round <= 3; round++) {
    {
      // A sender whose connection is dropped takes a minute to close.
      await using sender = openSender(emulator);
      await sender.send(liveMigration(round));
    }
    await entriesIn(path, 3 * round);
    emulator.dropConnections();
  }
  expect(consumer.progress.filter(({ kind }) => kind === 'ended')).toEqual([]);
  expect(linesInTrail(path)).toEqual(linesInHub(emulator));
});

test.concurrent('connections dropped at any moment cost nothing', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using _consumer = startConsumer(path, emulator);
  for (let round = 0; round < 4; round++) {
    {
      await using sender = openSender(emulator);
      await sender.send(liveMigration(round));
    }
    emulator.dropConnections();
  }
  await entriesIn(path, 12, 40_000);
  expect(linesInTrail(path)).toEqual(linesInHub(emulator));
}, 60_000);

test.concurrent('a connection that dies while events are delivered, or a reader that is detached, costs nothing', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  for (let event = 0; event < 10; event++) await sender.send(liveMigration(event));
  emulator.faults.add({ name: 'drop-on-receive', times: 2 });
  emulator.faults.add({ name: 'detach-on-receive', times: 2 });
  await using _consumer = startConsumer(path, emulator);
  await entriesIn(path, 30);
  await until('all faults', () => emulator.faults.waiting.length === 0);
  expect(linesInTrail(path)).toEqual(linesInHub(emulator));
});

test.concurrent('a hub that is down at the start is waited for, and mentioned once', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const gone = await smallHub();
  const { port } = gone;
  await gone[Symbol.asyncDispose]();
  const pauses: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) => {
      // Those of the sessions; the seals and the clock have rhythms of their own.
      if (ms < 5_000) pauses.push(ms);
      return systemClock.sleep(ms, signal);
    },
  };
  await using consumer = startConsumer(path, gone, { clock });
  await until('two pauses', () => pauses.length >= 2, 30_000);
  expect(pauses.slice(0, 2)).toEqual([250, 500]);
  expect(consumer.log.lines).toEqual([
    expect.objectContaining({
      level: 'warn',
      fields: expect.objectContaining({ reason: 'failed', fault: 'connection-refused' }),
    }),
  ]);
  await using emulator = await smallHub({ port });
  await using sender = openSender(emulator);
  await sender.send(liveMigration());
  await entriesIn(path, 3, 20_000);
  expect(consumer.log.lines.map(({ message }) => message)).toEqual([
    'reading the hub broke off and begins anew',
    'the hub is read',
  ]);
});

test.concurrent('a key that the hub refuses is an error for a person, said once and without the key', async () => {
  using directory = temporaryDirectory();
  await using emulator = await smallHub();
  const connectionString = emulator.connectionString.replace(/(SharedAccessKey=)[^;]+/, '$1wrong-marker-key');
  await using consumer = startConsumer(join(directory.path, 'trail.db'), { ...emulator, connectionString });
  await until(
    'two failed sessions',
    () => consumer.progress.filter(({ kind }) => kind === 'ended').length >= 2,
    30_000,
  );
  expect(consumer.log.lines).toEqual([
    expect.objectContaining({
      level: 'error',
      fields: { reason: 'failed', fault: 'unauthorized', advice: expect.stringContaining('Data Receiver') },
    }),
  ]);
  expect(JSON.stringify([consumer.log.lines, consumer.progress])).not.toContain('marker');
});

test.concurrent('a partition that has news but brings none is read over a new connection', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  await using consumer = startConsumer(path, emulator, { watchIntervalMs: 300 });
  await consumer.reading();
  emulator.faults.add({ name: 'slow-receive', delayMs: 3_600_000 });
  await sender.send(liveMigration());
  await entriesIn(path, 3);
  expect(consumer.progress).toContainEqual({
    kind: 'ended',
    end: expect.objectContaining({ reason: 'stalled' }),
  });
});

test.concurrent('a hub that no longer answers questions is connected to anew', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  await using consumer = startConsumer(path, emulator, { watchIntervalMs: 100 });
  await consumer.reading();
  emulator.faults.add({ name: 'management-silent' });
  await until('the end', () => consumer.progress.some(({ kind }) => kind === 'ended'), 30_000);
  await sender.send(liveMigration());
  await entriesIn(path, 3);
  expect(consumer.progress).toContainEqual({ kind: 'ended', end: { reason: 'silent', fault: 'timeout' } });
}, 40_000);

test.concurrent('a partition that somebody else took is read again once it is free', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  await using consumer = startConsumer(path, emulator);
  await consumer.reading();
  const thief = new EventHubConsumerClient('$Default', emulator.connectionString, emulator.eventHubName);
  const handlers = { processEvents: async () => undefined, processError: async () => undefined };
  for (const partition of ['0', '1']) thief.subscribe(partition, handlers, { ownerLevel: 7 });
  await until('the loss', () => consumer.progress.some(({ kind }) => kind === 'ended'));
  expect(consumer.progress).toContainEqual({ kind: 'ended', end: { reason: 'failed', fault: 'taken-over' } });
  await sender.send(liveMigration());
  await thief.close();
  await entriesIn(path, 3, 30_000);
}, 40_000);

test.concurrent('while the store is locked the partition waits, says so once, and leaves nothing out', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  await using consumer = startConsumer(path, emulator, { watchIntervalMs: 200 });
  await consumer.reading();
  {
    using database = new DatabaseSync(path);
    database.exec('BEGIN IMMEDIATE');
    await sender.send(liveMigration());
    await until('the complaint', () =>
      consumer.log.lines.some(({ level, fields }) => level === 'warn' && fields['reason'] === 'locked'),
    );
    await sender.send(liveMigration(1));
    const { managementRequests } = emulator.counters;
    await until('looks of the watchdog', () => emulator.counters.managementRequests > managementRequests + 9);
  }
  await entriesIn(path, 6);
  const words = consumer.log.lines.map(({ message, fields }) => [message, fields['partition']].join(' '));
  expect(new Set(words).size).toBe(words.length);
  expect(consumer.progress.filter(({ kind }) => kind === 'ended')).toEqual([]);
  expect(linesInTrail(path)).toEqual(linesInHub(emulator));
});

test.concurrent('a stop while the store is down leaves the batch in hand to the next start', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  {
    await using consumer = startConsumer(path, emulator);
    await consumer.reading();
    using database = new DatabaseSync(path);
    database.exec('BEGIN IMMEDIATE');
    await sender.send(liveMigration());
    await until('the complaint', () =>
      consumer.log.lines.some(({ level, fields }) => level === 'warn' && fields['reason'] === 'locked'),
    );
    expect(await consumer.stop()).toEqual({ ok: true });
  }
  await using _consumer = startConsumer(path, emulator);
  await entriesIn(path, 3);
  expect(await ask(path, (reader) => reader.counts())).toMatchObject({ entries: 3, repeats: 0 });
});

test.concurrent('a connection is made anew before idle waits let the hub send more than fits into memory', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using emulator = await smallHub();
  await using sender = openSender(emulator);
  await using consumer = startConsumer(path, emulator, { watchIntervalMs: 200, creditMax: 300 });
  await consumer.reading(2);
  await sender.send(liveMigration());
  await entriesIn(path, 3);
  expect(consumer.progress).toContainEqual({ kind: 'ended', end: { reason: 'refresh' } });
  expect(consumer.log.lines.map(({ message }) => message)).toEqual(['the hub is read']);
  await consumer.stop();
  // Once for the run, and not for each connection.
  const facts = journalFacts(path, 'partition-opened', 'partition-closed');
  expect(facts.map(({ kind }) => kind)).toEqual([
    ...['partition-opened', 'partition-opened'],
    ...['partition-closed', 'partition-closed'],
  ]);
  const sizes = facts.slice(2).map((fact) => ('size' in fact ? fact.size : null));
  expect(sizes.reduce((sum, size) => (sum ?? 0) + (size ?? 0), 0)).toBe(3);
});
