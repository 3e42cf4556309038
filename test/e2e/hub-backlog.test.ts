// A hub that was down: the agent keeps what happened meanwhile, and sends it in few messages once the hub is back.
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

/** A document with one event, postponed by so many minutes. */
const documentOf = (minutes: number) => ({
  DocumentIncarnation: minutes,
  Events: [
    {
      EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      EventType: 'Reboot',
      EventStatus: 'Scheduled',
      EventSource: 'Platform',
      ResourceType: 'VirtualMachine',
      Resources: ['WestNO_0'],
      NotBefore: new Date(Date.UTC(2030, 0, 1, 12, minutes)).toUTCString(),
      Description: '',
      DurationInSeconds: -1,
    },
  ],
});

it('sends a backlog in order and in batches once the hub is back', { timeout: 60_000 }, async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const hubs = [{ name: 'hub', partitions: 1 }];
  const gone = await startEventHubsEmulator({ hubs });
  const { port, connectionString, eventHubName } = gone;
  await gone[Symbol.asyncDispose]();

  const fleet = { type: 'eventhubs', connectionString, eventHubName };
  imds.show(documentOf(0));
  await using agent = startAgent(directory.path, imds.url, { sinks: { fleet } });
  const changes = 6;
  for (let minutes = 1; minutes <= changes; minutes += 1) {
    await until(`${minutes} records`, () => agent.eventRecords().length === minutes);
    imds.show(documentOf(minutes));
  }
  await until('all records', () => agent.eventRecords().length === changes + 1);

  await using hub = await startEventHubsEmulator({ hubs, port });
  const ids = () => agent.records().map(({ id }) => id);
  await until('the hub has them all', () => hub.events().length === ids().length, 45_000);
  expect(hub.events().map(({ messageId }) => messageId)).toEqual(ids());
  expect(hub.counters.transfers).toBeLessThan(ids().length);
  expect(hub.counters.connectionsAccepted).toBe(1);
});
