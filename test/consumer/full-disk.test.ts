// A disk that is really full, on a file system of 8 MiB of its own: the consumer waits, and leaves nothing out.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { isConsistent, linesInHub, linesInTrail } from '../support/hub-and-trail.ts';
import { openSender } from '../support/running-consumer.ts';
import { startOnSmallDisk } from '../support/small-disk.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const consumerProgram = join(import.meta.dirname, '../support/small-disk-consumer.ts');
const stands = 'the partition stands still';
const again = 'the partition is stored again';

test('on a full disk the position stays, the partition waits and says so once, and goes on when there is room', async () => {
  using disk = temporaryDirectory();
  using outside = temporaryDirectory();
  const copy = join(outside.path, 'copy.db');
  await using hub = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 1 }] });
  await using sender = openSender(hub);
  await sender.send(liveMigration(0));
  const args = [hub.connectionString, hub.eventHubName, copy];
  await using consumer = startOnSmallDisk(consumerProgram, disk.path, args);
  await until(`the first events: ${consumer.log()}`, () => consumer.said('the hub is read') === 1);

  await consumer.tell('fill');
  // One at a time, so that some still fit into what the write-ahead log holds.
  await sender.send(Array.from({ length: 30 }, (_, event) => liveMigration(1 + event)).flat());
  await until('the complaint', () => consumer.said(stands) === 1, 30_000);
  await sender.send(liveMigration(99));
  expect(consumer.log()).toContain('"reason":"disk-full"');

  await consumer.tell('free');
  await until('the partition to go on', () => consumer.said(again) === 1, 30_000);
  const held = linesInHub(hub);
  await until('everything', async () => {
    await consumer.tell('copy');
    return linesInTrail(copy).length === held.length;
  });
  expect(linesInTrail(copy).join('\n') === held.join('\n')).toBe(true);
  expect(await isConsistent(copy)).toBe(true);
  expect(consumer.said(stands)).toBe(1);
}, 90_000);
