// One approval on its way: what is sent, how often, and what comes of each answer.

import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { type SendRuntime, sendApproval } from '../../src/agent/approval/send.ts';
import { openImds } from '../../src/agent/imds.ts';
import { systemClock } from '../../src/clock.ts';
import { type ManualClock, manualClock } from '../support/outboxes.ts';

interface Heard {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

type Answering = (response: http.ServerResponse, count: number) => void;

/** A server that answers each POST as the test says, and keeps what it heard. */
async function receiver(answer: Answering) {
  const heard: Heard[] = [];
  let [inFlight, inFlightMax] = [0, 0];
  const server = http.createServer((request, response) => {
    inFlight += 1;
    inFlightMax = Math.max(inFlightMax, inFlight);
    response.on('close', () => {
      inFlight -= 1;
    });
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const { method, url, headers } = request;
      heard.push({ method, url, headers, body });
      answer(response, heard.length);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/vm/a`;
  const imds = openImds({ endpoint, apiVersion: '2020-07-01' });
  return {
    heard,
    imds,
    inFlightMax: () => inFlightMax,
    [Symbol.dispose]: () => {
      imds[Symbol.dispose]();
      server.closeAllConnections();
      server.close();
    },
  };
}

const status =
  (...codes: readonly number[]): Answering =>
  (response, count) => {
    response.writeHead(codes[count - 1] ?? codes.at(-1) ?? 200).end();
  };

/** A clock that lets each wait pass at once, and keeps how long it was. */
function countingClock(): ManualClock & { readonly waits: number[] } {
  const clock = manualClock();
  const waits: number[] = [];
  const sleep = async (ms: number) => {
    waits.push(ms);
    clock.advance(ms);
  };
  return Object.assign(clock, { waits, sleep });
}

const running = new AbortController().signal;
const eventId = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
const inMs = (clock: ManualClock, ms: number) => new Date(clock.now() + ms).toISOString();

function send(imds: SendRuntime['imds'], more: Partial<SendRuntime> & { readonly dueMs?: number } = {}) {
  const clock = countingClock();
  const { dueMs, ...runtime } = more;
  const notBefore = dueMs === undefined ? null : inMs(clock, dueMs);
  const sent = sendApproval(
    { eventId, notBefore },
    { imds, clock, signal: running, random: () => 0, ...runtime },
  );
  return { clock, sent };
}

it('POSTs the one id as it was spelled, to the address of the poll, with the header and nothing of a proxy', async () => {
  using server = await receiver(status(200));
  expect(await send(server.imds).sent).toEqual({ end: 'accepted', answer: { status: 200, attempts: 1 } });
  const [request] = server.heard;
  expect(request).toMatchObject({
    method: 'POST',
    url: '/vm/a/metadata/scheduledevents?api-version=2020-07-01',
    body: `{"StartRequests":[{"EventId":"${eventId}"}]}`,
    headers: { metadata: 'true', 'content-type': 'application/json', 'content-length': '70' },
  });
  expect(request?.headers).not.toHaveProperty('x-forwarded-for');
});

it('tries again what may pass, with growing waits, and counts each attempt', async () => {
  using server = await receiver(status(500, 410, 503, 408, 200));
  const { sent, clock } = send(server.imds, { random: () => 0.5 });
  expect(await sent).toEqual({ end: 'accepted', answer: { status: 200, attempts: 5 } });
  expect(clock.waits).toEqual([1_500, 2_500, 4_500, 8_500]);
});

it('waits as long as the service asks for', async () => {
  using server = await receiver((response, count) => {
    if (count === 1) response.writeHead(429, { 'Retry-After': '17' }).end();
    else response.writeHead(200).end();
  });
  const { sent, clock } = send(server.imds);
  expect((await sent).end).toBe('accepted');
  expect(clock.waits).toEqual([17_000]);
});

it.each([400, 401, 403, 404, 405])('takes %i for an answer: it is not asked again', async (code) => {
  using server = await receiver(status(code));
  expect(await send(server.imds).sent).toEqual({
    end: 'refused-by-imds',
    answer: { status: code, attempts: 1 },
  });
  expect(server.heard).toHaveLength(1);
});

it('goes on to the moment at which the event starts by itself, and not beyond it', async () => {
  using server = await receiver(status(500));
  const { sent, clock } = send(server.imds, { dueMs: 3_500 });
  expect(await sent).toEqual({ end: 'too-late', answer: { status: 500, attempts: 4 } });
  expect(clock.waits).toEqual([1_000, 1_000, 1_000, 500]);
});

it('sends nothing for an event that is due', async () => {
  using server = await receiver(status(200));
  expect(await send(server.imds, { dueMs: 0 }).sent).toMatchObject({
    end: 'too-late',
    answer: { attempts: 0 },
  });
  expect(server.heard).toEqual([]);
});

it.each(['while it waits', 'while a request hangs'])('ends at once when it is told to %s', async (when) => {
  using server = await receiver((response) => {
    if (when === 'while it waits') response.writeHead(429, { 'Retry-After': '100' }).end();
    ending.abort();
  });
  const ending = new AbortController();
  const began = performance.now();
  const { sent } = send(server.imds, { clock: systemClock, signal: ending.signal });
  expect((await sent).end).toBe('ended');
  expect(performance.now() - began).toBeLessThan(1_000);
});

it('keeps the answer that came before it was told to end', async () => {
  const ending = new AbortController();
  const imds: SendRuntime['imds'] = {
    approve: async () => {
      ending.abort();
      return { status: 'accepted', code: 200 };
    },
  };
  expect((await send(imds, { signal: ending.signal }).sent).end).toBe('accepted');
});

it('never has two requests in flight, however many events there are', async () => {
  using server = await receiver((response) => void setTimeout(() => response.writeHead(200).end(), 30));
  const all = await Promise.all([1, 2, 3, 4].map(() => send(server.imds).sent));
  expect(all.map(({ end }) => end)).toEqual(['accepted', 'accepted', 'accepted', 'accepted']);
  expect([server.heard.length, server.inFlightMax()]).toEqual([4, 1]);
});

it('takes a broken connection, and an answer longer than any, for no answer', async () => {
  using server = await receiver((response, count) => {
    if (count === 1) response.socket?.destroy();
    else if (count === 2) response.writeHead(200).end(Buffer.alloc(5 * 1024 * 1024));
    else response.writeHead(200).end();
  });
  expect(await send(server.imds).sent).toEqual({ end: 'accepted', answer: { status: 200, attempts: 3 } });
});
