// Faults on request: each one is what it says, hits what it shall and ends when it shall.
import { expect, it } from 'vitest';
import { startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
import type { ImdsFault } from '../../../src/emulators/imds/fault.ts';
import { readFaultSpec } from '../../../src/emulators/imds/fault-spec.ts';
import { ask, eventsPath } from '../../support/imds-client.ts';
import { until } from '../../support/until.ts';

it.each([429, 410, 500, 503] as const)('answers %d once, and is well again', async (status) => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind: 'status', status });
  const answer = await ask(emulator.url + eventsPath());
  expect(answer.status).toBe(status);
  expect(answer.headers['retry-after']).toBeUndefined();
  expect(JSON.parse(answer.body)).toEqual({ error: expect.any(String) });
  expect((await ask(emulator.url + eventsPath())).status).toBe(200);
});

it('sends Retry-After as it was told to', async () => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind: 'status', status: 503, retryAfter: '7' });
  expect((await ask(emulator.url + eventsPath())).headers['retry-after']).toBe('7');
});

it('answers 200 with nothing in it', async () => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind: 'empty' });
  const answer = await ask(emulator.url + eventsPath());
  expect(answer).toMatchObject({ status: 200, body: '', headers: { 'content-length': '0' } });
});

it('answers 200 with JSON that breaks off', async () => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind: 'truncated' });
  const { status, body } = await ask(emulator.url + eventsPath());
  expect(status).toBe(200);
  expect(body).toMatch(/^\{"DocumentInc/);
  expect(() => JSON.parse(body)).toThrow(SyntaxError);
});

it.each(['reset', 'cut'] as const)('ends the connection: %s', async (kind) => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind });
  await expect(ask(emulator.url + eventsPath())).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect((await ask(emulator.url + eventsPath())).status).toBe(200);
});

it('never answers a request that hangs, and lets it go when the client does', async () => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind: 'hang' });
  const giveUp = new AbortController();
  const hanging = ask(emulator.url + eventsPath(), { signal: giveUp.signal });
  await until('it has come', () => emulator.requests.length === 1);
  expect((await ask(emulator.url + eventsPath())).status).toBe(200);
  expect(emulator.requests[0]).toMatchObject({ endedAt: null, status: null });
  giveUp.abort();
  await expect(hanging).rejects.toThrow();
  await until('it is over', () => emulator.requests[0]?.endedAt !== null);
  expect(emulator.requests[0]?.status).toBeNull();
});

it('cuts off what hangs when the emulator ends', async () => {
  const emulator = await startImdsEmulator();
  emulator.inject({ kind: 'hang' });
  const hanging = ask(emulator.url + eventsPath());
  const failure = expect(hanging).rejects.toMatchObject({ code: 'ECONNRESET' });
  await until('it has come', () => emulator.requests.length === 1);
  await emulator[Symbol.asyncDispose]();
  await failure;
});

it('makes a slow answer wait', async () => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind: 'slow', delayMs: 300 });
  const begun = performance.now();
  expect((await ask(emulator.url + eventsPath())).status).toBe(200);
  // Timers may fire a little early by the other clock.
  expect(performance.now() - begun).toBeGreaterThan(290);
});

it('warms up once, counted from the first request: a client that gave up waits only for the rest', async () => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind: 'warming', delayMs: 1_500 });
  const url = emulator.url + eventsPath();
  await expect(ask(url, { signal: AbortSignal.timeout(500) })).rejects.toThrow();
  expect((await ask(url)).status).toBe(200);
  const [first, second] = emulator.requests;
  const warmAt = (first?.at ?? Number.NaN) + 1_500;
  expect(second?.endedAt).toBeGreaterThanOrEqual(warmAt - 10);
  expect((second?.endedAt ?? Number.NaN) - (second?.at ?? Number.NaN)).toBeLessThan(1_400);
  expect((await ask(url)).status).toBe(200);
});

it('hits as many requests, of the VM and the path it was meant for', async () => {
  await using emulator = await startImdsEmulator({ vms: [{ name: 'web1' }, { name: 'web10' }] });
  emulator.inject({ kind: 'status', status: 500 }, { times: 2, vm: 'web10', path: 'instance' });
  const instance = '/metadata/instance?api-version=2021-02-01';
  const statusOf = async (path: string) => (await ask(path)).status;
  expect(await statusOf(emulator.endpointOf('web1') + instance)).toBe(200);
  expect(await statusOf(emulator.endpointOf('web10') + eventsPath())).toBe(200);
  expect(await statusOf(emulator.endpointOf('web10') + instance)).toBe(500);
  expect(await statusOf(emulator.endpointOf('web10') + instance)).toBe(500);
  expect(await statusOf(emulator.endpointOf('web10') + instance)).toBe(200);
});

it('lasts as long as it was told to', async () => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind: 'empty' }, { forMs: 400, path: 'all' });
  const end = Date.now() + 400;
  expect((await ask(emulator.url + eventsPath())).body).toBe('');
  expect((await ask(emulator.url + eventsPath())).body).toBe('');
  await until('it is over', async () => (await ask(emulator.url + eventsPath())).body !== '');
  expect(Date.now()).toBeGreaterThanOrEqual(end);
});

it('tells approvals from polls', async () => {
  await using emulator = await startImdsEmulator();
  emulator.inject({ kind: 'status', status: 503 }, { path: 'approval' });
  expect((await ask(emulator.url + eventsPath())).status).toBe(200);
  expect((await ask(emulator.url + eventsPath(), { method: 'POST' })).status).toBe(503);
});

it('takes an approval and never answers it, when it is mute', async () => {
  await using emulator = await startImdsEmulator();
  emulator.show({ DocumentIncarnation: 2, Events: [{ EventId: 'A' }] });
  emulator.inject({ kind: 'mute' }, { path: 'approval' });
  const leaving = new AbortController();
  const body = JSON.stringify({ StartRequests: [{ EventId: 'A' }] });
  const question = { method: 'POST', body, signal: leaving.signal };
  const answer = ask(emulator.url + eventsPath(), question).catch(() => 'none');
  await until('the approval', () => emulator.approvals.length === 1);
  leaving.abort();
  expect(await answer).toBe('none');
});

it('takes an approval and ends the connection, when the answer is lost', async () => {
  await using emulator = await startImdsEmulator();
  emulator.show({ DocumentIncarnation: 2, Events: [{ EventId: 'A' }] });
  emulator.inject({ kind: 'lost' }, { path: 'approval' });
  const question = { method: 'POST', body: JSON.stringify({ StartRequests: [{ EventId: 'A' }] }) };
  const url = emulator.url + eventsPath();
  await expect(ask(url, question)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(emulator.approvals).toMatchObject([{ eventId: 'A', accepted: true }]);
  expect((await ask(url, question)).status).toBe(200);
});

it.each<[string, ImdsFault, object, number]>([
  ['warming', { kind: 'warming', delayMs: 120_000 }, {}, 0],
  [
    '429,retryAfter=5,times=3,after=3m',
    { kind: 'status', status: 429, retryAfter: '5' },
    { times: 3 },
    180_000,
  ],
  ['empty,for=30s,vm=WestNO_1', { kind: 'empty' }, { forMs: 30_000, vm: 'WestNO_1' }, 0],
  ['lost,path=approval,times=2', { kind: 'lost' }, { path: 'approval', times: 2 }, 0],
  ['mute,path=approval', { kind: 'mute' }, { path: 'approval' }, 0],
  ['slow,delay=2s,path=token', { kind: 'slow', delayMs: 2_000 }, { path: 'token' }, 0],
  ['instance-down,for=1m', { kind: 'status', status: 500 }, { forMs: 60_000, path: 'instance' }, 0],
  [
    'instance-down',
    { kind: 'status', status: 500 },
    { forMs: Number.POSITIVE_INFINITY, path: 'instance' },
    0,
  ],
])('reads the fault "%s" from a command line', (spec, fault, scope, afterMs) => {
  expect(readFaultSpec(spec)).toEqual({ fault, scope, afterMs });
});

it.each([
  ['bogus', 'Expected one of warming, slow'],
  ['200', 'status from 400 to 599'],
  ['empty,for=soon', 'for: Expected a span of time such as'],
  ['empty,time=3', 'there is no key time'],
])('says what is wrong with the fault "%s"', (spec, problem) => {
  expect(readFaultSpec(spec)).toEqual({ problem: expect.stringContaining(problem) });
});
