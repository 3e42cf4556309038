// Approvals: what the POST answers and what it sets going.
import { expect, it } from 'vitest';
import { startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
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
