// Approvals: what the POST answers and what it sets going.
import { expect, it } from 'vitest';
import { startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
import { scaleSetVms } from '../../../src/emulators/imds/vm.ts';
import { fixtureText } from '../../support/documents.ts';
import { approve, ask, documentAt, eventsPath } from '../../support/imds-client.ts';
import { emulatorPlaying } from '../../support/running-imds.ts';

const reboot = { schedule: 'a', type: 'Reboot', source: 'User', notice: '15m' };

it('starts an approved event early, and takes a second approval of it, from another VM and in lower case', async () => {
  await using emulator = await emulatorPlaying([reboot]);
  const eventId = (await documentAt(emulator.url)).Events[0]?.EventId ?? '';
  const first = await approve(emulator.endpointOf('WestNO_1'), eventId);
  expect(first).toMatchObject({ status: 200, body: '' });
  const [event] = (await documentAt(emulator.url)).Events;
  expect(event).toMatchObject({ EventId: eventId, EventStatus: 'Started', NotBefore: '' });
  expect((await approve(emulator.url, eventId.toLowerCase())).status).toBe(200);
  expect(emulator.approvals).toMatchObject([
    { eventId, vm: 'WestNO_1', accepted: true },
    { eventId: eventId.toLowerCase(), vm: 'WestNO_0', accepted: true },
  ]);
});

it('takes several events in one request', async () => {
  await using emulator = await emulatorPlaying([reboot, { ...reboot, schedule: 'b' }]);
  const eventIds = (await documentAt(emulator.url)).Events.map((event) => event.EventId);
  expect((await approve(emulator.url, ...eventIds)).status).toBe(200);
  const { Events } = await documentAt(emulator.url);
  expect(Events.map((event) => event.EventStatus)).toEqual(['Started', 'Started']);
});

it.each([
  ['nothing', ''],
  ['no JSON', '{'],
  ['no list', '{"StartRequests":{}}'],
  ['an empty list', '{"StartRequests":[]}'],
  ['no id', '{"StartRequests":[{"EventID":"x"}]}'],
  ['an event that is not there', fixtureText('60-approve-request.json')],
])('answers 400 to a body with %s, and starts nothing', async (_, body) => {
  await using emulator = await emulatorPlaying([reboot]);
  expect((await ask(emulator.url + eventsPath(), { method: 'POST', body })).status).toBe(400);
  expect((await documentAt(emulator.url)).Events[0]?.EventStatus).toBe('Scheduled');
});

it('refuses an approval without the Metadata header', async () => {
  await using emulator = await emulatorPlaying([reboot]);
  const body = JSON.stringify({
    StartRequests: [{ EventId: (await documentAt(emulator.url)).Events[0]?.EventId }],
  });
  const answer = await ask(emulator.url + eventsPath(), { method: 'POST', headers: {}, body });
  expect(answer.status).toBe(400);
  expect((await documentAt(emulator.url)).Events[0]?.EventStatus).toBe('Scheduled');
});

it('holds back the deletion of an approved instance until every instance is approved', async () => {
  await using emulator = await emulatorPlaying([
    { schedule: 't', type: 'Terminate', notice: '5m', each: 'vm' },
  ]);
  const [one, other] = (await documentAt(emulator.url)).Events.map((event) => event.EventId);
  const statuses = async () => (await documentAt(emulator.url)).Events.map((event) => event.EventStatus);
  await approve(emulator.endpointOf('WestNO_0'), one ?? '');
  expect(await statuses()).toEqual(['Scheduled', 'Scheduled']);
  await approve(emulator.endpointOf('WestNO_1'), other ?? '');
  expect(await statuses()).toEqual(['Started', 'Started']);
});

it('takes the approval of an event in a body that a test shows', async () => {
  await using emulator = await startImdsEmulator();
  emulator.show(fixtureText('04-livemigration-2-scheduled.json'));
  expect((await approve(emulator.url, 'c7061bac-afdc-4513-b24b-aa5f13a16123')).status).toBe(200);
  expect((await approve(emulator.url, 'f020ba2e-3bc0-4c40-a10b-86575a9eabd5')).status).toBe(400);
});

it('lists all approvals, with who sent them and whether the event was there, and counts no request for it', async () => {
  await using emulator = await startImdsEmulator({ vms: scaleSetVms(2), requestsPerSecondMax: 3 });
  emulator.show(fixtureText('04-livemigration-2-scheduled.json'));
  await approve(emulator.endpointOf('WestNO_1'), 'c7061bac-afdc-4513-b24b-aa5f13a16123');
  await approve(emulator.url, 'f020ba2e-3bc0-4c40-a10b-86575a9eabd5');
  const lists = await Promise.all(Array.from({ length: 5 }, () => fetch(`${emulator.url}/approvals`)));
  expect(lists.map(({ status }) => status)).toEqual(Array(5).fill(200));
  expect(await lists[0]?.json()).toEqual([
    {
      eventId: 'c7061bac-afdc-4513-b24b-aa5f13a16123',
      vm: 'WestNO_1',
      at: expect.any(Number),
      accepted: true,
    },
    {
      eventId: 'f020ba2e-3bc0-4c40-a10b-86575a9eabd5',
      vm: 'WestNO_0',
      at: expect.any(Number),
      accepted: false,
    },
  ]);
  expect(emulator.requests).toHaveLength(2);
});
