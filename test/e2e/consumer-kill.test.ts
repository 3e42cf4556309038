// SIGKILL of two consumers at 50 random moments, while events flow: no entry missing, none twice, every root as it should be.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { isConsistent, linesInHub, linesInTrail, strayStreams } from '../support/hub-and-trail.ts';
import { startNode } from '../support/process.ts';
import { ask, entriesIn, keyBeside, openSender } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');
const killsPerConsumer = 25;

/** One consumer with a trail of its own, run from the command line and killed again and again. */
function killableConsumer(directory: string, name: string, hub: EventHubsEmulator) {
  const { connectionString, eventHubName } = hub;
  const path = join(directory, `${name}.db`);
  const file = join(directory, `${name}.yaml`);
  const signing = { keyFile: keyBeside(path) };
  const settings = {
    ...{ hub: { connectionString, eventHubName }, trail: { path }, signing },
    log: { level: 'error' },
  };
  writeFileSync(file, JSON.stringify(settings));
  const size = async (): Promise<number> => (await ask(path, (reader) => reader.counts()))?.entries ?? 0;

  /** One life, ended at a random moment: of its start, or of its work when `busy`. */
  const live = async (busy: boolean): Promise<void> => {
    const before = await size();
    await using running = startNode([cli, 'consumer', '-c', file]);
    if (busy) await until(`${name} to store something`, async () => (await size()) > before, 30_000);
    await delay(Math.random() * (busy ? 250 : 700));
    running.child.kill('SIGKILL');
    expect(await running.ended()).toBeNull();
    // The first life may have ended before it made the file.
    if (existsSync(path) && (await size()) > 0) expect(await strayStreams(path, hub)).toEqual([]);
  };

  return {
    path,
    liveAndDie: async (): Promise<void> => {
      for (let life = 0; life < killsPerConsumer; life++) await live(life % 2 === 0);
    },
    /** A last life, ended as a service manager does. */
    finish: async (entries: number): Promise<number | null> => {
      await using running = startNode([cli, 'consumer', '-c', file]);
      await entriesIn(path, entries, 30_000);
      running.child.kill('SIGTERM');
      return await running.ended();
    },
  };
}

test('a consumer killed at 50 random moments holds what the hub holds, in order, once, under the roots of a single pass', async () => {
  using directory = temporaryDirectory();
  await using hub = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 3 }] });
  await using sender = openSender(hub);
  let flowing = true;
  const flow = async (): Promise<void> => {
    for (let event = 0; flowing; event++) {
      await sender.send(liveMigration(event, event % 7));
      if (event % 10 === 0) await sender.send(['poison'], String(event % 3));
      await delay(20);
    }
  };
  const flowed = flow();
  const consumers = ['one', 'two'].map((name) => killableConsumer(directory.path, name, hub));
  await Promise.all(consumers.map((consumer) => consumer.liveAndDie())).finally(() => {
    flowing = false;
  });
  await flowed;

  const held = linesInHub(hub);
  const ends = await Promise.all(consumers.map((consumer) => consumer.finish(held.length)));
  expect(ends).toEqual([0, 0]);
  for (const { path } of consumers) {
    expect(linesInTrail(path)).toEqual(held);
    expect(await strayStreams(path, hub)).toEqual([]);
    expect(await isConsistent(path)).toBe(true);
  }
}, 180_000);
