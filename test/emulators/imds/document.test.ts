// The document on the wire: its dialects, its incarnations and what a test may put there itself.
import { expect, it } from 'vitest';
import { parseNotBefore } from '../../../src/core/not-before.ts';
import { startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
import { fixtureText } from '../../support/documents.ts';
import { ask, documentAt, eventsPath } from '../../support/imds-client.ts';
import { emulatorPlaying } from '../../support/running-imds.ts';
import { until } from '../../support/until.ts';

/** An emulator with one event of each of these types in its document. */
const emulatorWith = (...types: readonly string[]) =>
  emulatorPlaying(
    types.map((type) => ({ schedule: type, type, notice: '15m', description: 'why', duration: '5s' })),
  );

it('writes compact JSON with every field of the newest version', async () => {
  await using emulator = await emulatorWith('Freeze');
  const { body, headers } = await ask(emulator.url + eventsPath());
  expect(body).not.toMatch(/[\n]|": |, "/);
  expect(headers['content-type']).toContain('application/json');
  expect(JSON.parse(body)).toEqual({
    DocumentIncarnation: 2,
    Events: [
      {
        EventId: expect.stringMatching(/^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$/),
        EventStatus: 'Scheduled',
        EventType: 'Freeze',
        ResourceType: 'VirtualMachine',
        Resources: ['WestNO_0', 'WestNO_1'],
        NotBefore: expect.any(String),
        Description: 'why',
        EventSource: 'Platform',
        DurationInSeconds: 5,
      },
    ],
  });
});

it.each([
  ['2017-03-01', '_WestNO_0', []],
  ['2017-08-01', 'WestNO_0', []],
  ['2019-04-01', 'WestNO_0', ['Description']],
  ['2019-08-01', 'WestNO_0', ['Description', 'EventSource']],
  ['2020-07-01', 'WestNO_0', ['Description', 'EventSource', 'DurationInSeconds']],
] as const)('speaks the dialect of %s', async (apiVersion, name, extras) => {
  await using emulator = await emulatorWith('Reboot');
  const [event] = (await documentAt(emulator.url, apiVersion)).Events;
  expect(event?.Resources[0]).toBe(name);
  const common = ['EventId', 'EventStatus', 'EventType', 'ResourceType', 'Resources', 'NotBefore'];
  expect(Object.keys(event ?? {})).toEqual([...common, ...extras]);
});

it('hides event types from versions that are older than they are', async () => {
  await using emulator = await emulatorWith('Freeze', 'Preempt', 'Terminate');
  const typesAt = async (apiVersion: string) =>
    (await documentAt(emulator.url, apiVersion)).Events.map((event) => event.EventType);
  expect(await typesAt('2017-08-01')).toEqual(['Freeze']);
  expect(await typesAt('2017-11-01')).toEqual(['Freeze', 'Preempt']);
  expect(await typesAt('2019-01-01')).toEqual(['Freeze', 'Preempt', 'Terminate']);
});

it('writes NotBefore as RFC 1123 with the right weekday, grants the whole notice and starts no event before it', async () => {
  const event = { schedule: 'a', type: 'Freeze', notice: '15m', lasts: '7d' };
  const begunAt = Date.now();
  await using emulator = await emulatorPlaying([event], { speed: 600 });
  const announced = (await documentAt(emulator.url)).Events[0]?.NotBefore ?? '';
  expect(announced).toMatch(
    /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/,
  );
  const time = new Date(parseNotBefore(announced) ?? Number.NaN);
  expect(announced).toBe(time.toUTCString());
  expect(time.getTime() - begunAt).toBeGreaterThanOrEqual(1_500);
  const [started] = await until('it has started', async () => {
    const { Events } = await documentAt(emulator.url);
    return Events[0]?.EventStatus === 'Started' ? Events : null;
  });
  expect(Date.now()).toBeGreaterThanOrEqual(time.getTime());
  expect(started?.NotBefore).toBe('');
});

it('shows one document to all VMs and counts its changes', async () => {
  await using emulator = await emulatorWith('Freeze', 'Reboot');
  const first = await ask(emulator.endpointOf('WestNO_0') + eventsPath());
  const second = await ask(emulator.endpointOf('WestNO_1') + eventsPath());
  expect(first.body).toBe(second.body);
  expect((await documentAt(emulator.url)).DocumentIncarnation).toBe(3);
  emulator.inject({ kind: 'incarnation-reset' });
  const reset = await documentAt(emulator.url);
  expect(reset.DocumentIncarnation).toBe(1);
  expect(reset.Events).toHaveLength(2);
});

it('puts a body on the wire to the byte, whatever the version', async () => {
  await using emulator = await startImdsEmulator();
  const text = fixtureText('28-webdevops-examples-events.json');
  emulator.show(text);
  expect((await ask(emulator.url + eventsPath('2017-03-01'))).body).toBe(text);
  emulator.show({ DocumentIncarnation: 'x', Events: [] });
  expect((await ask(emulator.url + eventsPath())).body).toBe('{"DocumentIncarnation":"x","Events":[]}');
});
