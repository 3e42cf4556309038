// A hundred agents of one placement group see the same events: the trail has each fact once, with 100 observers.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { startAgent } from '../support/running-agent.ts';
import { startConsumer } from '../support/running-consumer.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const observers = 100;
const names = Array.from({ length: observers }, (_, index) => `WestNO_${index}`);
const life = ['Scheduled', 'Started', null] as const;

/** The document of a live migration that names every VM. */
const document = (status: (typeof life)[number], incarnation: number) => ({
  DocumentIncarnation: incarnation,
  Events:
    status === null
      ? []
      : [
          {
            EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
            EventStatus: status,
            EventType: 'Freeze',
            ResourceType: 'VirtualMachine',
            Resources: names,
            NotBefore: status === 'Scheduled' ? new Date(Date.now() + 900_000).toUTCString() : '',
            Description: 'Host server is undergoing maintenance.',
            EventSource: 'Platform',
            DurationInSeconds: 5,
          },
        ],
});

test('a hundred agents on one placement group: each fact stands once in the trail, with 100 observers', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using imds = await startImdsEmulator({ vms: names.map((name) => ({ name })) });
  await using hub = await startEventHubsEmulator();
  const fleet = { type: 'eventhubs', connectionString: hub.connectionString, eventHubName: hub.eventHubName };
  await using _consumer = startConsumer(path, hub);
  await using agents = new AsyncDisposableStack();
  imds.show({ DocumentIncarnation: 1, Events: [] });
  for (const name of names) {
    const settings = { imds: { pollInterval: '1s' }, sinks: { fleet } };
    agents.use(startAgent(join(directory.path, name), imds.endpointOf(name), settings));
  }
  await until('the trail', () => existsSync(path), 60_000);
  await using trail = openSqliteReader(path);
  await until('every agent to have started', async () => (await trail.counts()).agents === observers, 60_000);
  for (const [index, status] of life.entries()) {
    imds.show(document(status, index + 2));
    const seen = async (): Promise<boolean> => {
      const facts = await trail.facts();
      return facts.length === index + 1 && facts.every((fact) => fact.observers === observers);
    };
    await until(`${observers} observers of phase ${index + 1}`, seen, 60_000);
  }
  const [event, ...others] = await trail.events({ limit: 10 });
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    eventId: 'c7061bac-afdc-4513-b24b-aa5f13a16123',
    observers,
    phaseObservers: { scheduled: 100, updated: 0, started: 100, completed: 100, canceled: 0 },
  });
  expect(await trail.counts()).toMatchObject({ conflicts: 0, parked: 0, events: 1, agents: observers });
}, 240_000);
