// What the emulator demands of a request before it answers, as Azure documents it.
import { expect, it } from 'vitest';
import { startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
import { createRequestLog } from '../../../src/emulators/imds/request-log.ts';
import { fixtureText } from '../../support/documents.ts';
import { ask, eventsPath } from '../../support/imds-client.ts';
import { until } from '../../support/until.ts';

it('refuses a request without the Metadata header, and one that passed a proxy', async () => {
  await using emulator = await startImdsEmulator();
  const bare = await ask(emulator.url + eventsPath(), { headers: {} });
  expect(bare.status).toBe(400);
  expect(JSON.parse(bare.body)).toEqual({
    error: expect.stringContaining('Required metadata header not specified'),
  });
  const proxied = await ask(emulator.url + eventsPath(), {
    headers: { Metadata: 'true', 'X-Forwarded-For': '10.0.0.1' },
  });
  expect(proxied.status).toBe(400);
});

it('lets only the preview version do without the Metadata header', async () => {
  await using emulator = await startImdsEmulator();
  expect((await ask(emulator.url + eventsPath('2017-03-01'), { headers: {} })).status).toBe(200);
  expect((await ask(emulator.url + eventsPath('2017-08-01'), { headers: {} })).status).toBe(400);
  const instance = `${emulator.url}/metadata/instance?api-version=2017-03-01`;
  expect((await ask(instance, { headers: {} })).status).toBe(400);
});

it.each([
  '/metadata/scheduledevents',
  '/metadata/scheduledevents?api-version=2020-07-02',
  '/metadata/instance',
])('answers %s with the documented error about the api-version', async (path) => {
  await using emulator = await startImdsEmulator();
  const { status, body } = await ask(emulator.url + path);
  expect(status).toBe(400);
  expect(JSON.parse(body)).toEqual(JSON.parse(fixtureText('51-imds-error-missing-version.json')));
});

it('keeps the versions of events apart from those of the rest of IMDS', async () => {
  await using emulator = await startImdsEmulator();
  const statusOf = async (path: string) => (await ask(emulator.url + path)).status;
  expect(await statusOf('/metadata/scheduledevents?api-version=2021-02-01')).toBe(400);
  expect(await statusOf('/metadata/instance?api-version=2020-07-01')).toBe(400);
  const { apiVersions } = JSON.parse((await ask(`${emulator.url}/metadata/versions`)).body);
  expect(apiVersions).toContain('2021-02-01');
  expect(apiVersions).not.toContain('2020-07-01');
});

it('answers 404 to unknown paths and VMs, 405 to other verbs and 400 to doubled parameters', async () => {
  await using emulator = await startImdsEmulator();
  const { url } = emulator;
  expect((await ask(`${url}/metadata/attested/document`)).status).toBe(404);
  expect((await ask(`${url}/vm/nobody${eventsPath()}`)).status).toBe(404);
  expect((await ask(url + eventsPath(), { method: 'PUT' })).status).toBe(405);
  expect((await ask(`${url}/metadata/instance?api-version=2021-02-01`, { method: 'POST' })).status).toBe(405);
  expect((await ask(`${url}${eventsPath()}&api-version=2020-07-01`)).status).toBe(400);
});

it('answers a VM that asks more than 5 times in a second with 429, and others as before', async () => {
  await using emulator = await startImdsEmulator({
    vms: [{ name: 'web1' }, { name: 'web10' }],
    requestsPerSecondMax: 5,
  });
  const endpoint = emulator.endpointOf('web1') + eventsPath();
  await until('a request is refused', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(endpoint)));
    return answers.some(({ status }) => status === 429);
  });
  const refused = emulator.requests.findIndex(({ status }) => status === 429);
  const at = emulator.requests[refused]?.at ?? Number.NaN;
  expect(emulator.requests.slice(0, refused).filter((request) => request.at > at - 1000)).toHaveLength(5);
  expect((await ask(emulator.endpointOf('web10') + eventsPath())).status).toBe(200);
});

it('counts the requests of one VM within the last second', () => {
  const log = createRequestLog();
  const request = { method: 'GET', path: '/', headers: {} };
  for (const at of [1_000, 1_500, 1_999, 2_000]) log.begin({ ...request, vm: 'web1', at });
  log.begin({ ...request, vm: 'web10', at: 2_000 });
  expect(log.recent('web1', 2_000)).toBe(3);
  expect(log.recent('web1', 2_999)).toBe(1);
});

it('writes each request down: method, path, headers, VM, time and status', async () => {
  await using emulator = await startImdsEmulator({ vms: [{ name: 'web1' }, { name: 'web 2' }] });
  await ask(emulator.url + eventsPath());
  await ask(emulator.endpointOf('web 2') + eventsPath(), { headers: { Metadata: 'true', 'X-Test': 'yes' } });
  await until('both are over', () => emulator.requests.every(({ endedAt }) => endedAt !== null));
  const [first, second] = emulator.requests;
  expect(first).toMatchObject({ method: 'GET', path: eventsPath(), vm: 'web1', status: 200 });
  expect(second).toMatchObject({ path: eventsPath(), vm: 'web 2', headers: { 'x-test': 'yes' } });
  expect(second?.at).toBeGreaterThanOrEqual(first?.endedAt ?? Number.NaN);
});

it('says which port is taken when it cannot listen', async () => {
  await using emulator = await startImdsEmulator();
  const port = Number(new URL(emulator.url).port);
  await expect(startImdsEmulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
