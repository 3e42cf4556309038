// How long a notice takes from the answer of IMDS, over the disk, to its first byte at a healthy webhook.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { encodeRecord } from '../../src/core/record.ts';
import { sampleRecord } from '../../test/support/records.ts';
import { until } from '../../test/support/until.ts';
import { bundle } from '../build.ts';
import { startMeasured } from './measured-process.ts';
import { diskDirectory, openRawFile } from './raw-disk.ts';
import { type Bench, type BenchResult, quantile } from './result.ts';

const vmName = 'WestNO_0';
// An agent that died would be waited for without end.
const patienceMs = 60_000;
const instance = { compute: { name: vmName, vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6' } };

/** A server on this machine that tells what it is asked, and when. */
interface Server extends AsyncDisposable {
  readonly url: string;
}

export const run: Bench = async ({ quick }) => {
  const count = quick ? 10 : 200;
  using directory = diskDirectory();
  await bundle(join(directory.path, 'dist'));
  await using receiver = await openReceiver();
  const agent = await noticesThroughAgent(directory.path, receiver, count);
  const raw = await rawTimes(join(directory.path, 'raw'), receiver, count);
  const result = (what: string, share: number): BenchResult => ({
    name: `from the answer of IMDS to the first byte at a webhook, ${what}`,
    value: quantile(agent.slice(1), share),
    unit: 'ms',
    baseline: { name: 'one flush and one bare POST', value: quantile(raw.both, share) },
  });
  return [
    { name: 'one flush of the disk, p50', value: quantile(raw.flushes, 0.5), unit: 'ms' },
    { name: 'one bare POST to its first byte, p50', value: quantile(raw.posts, 0.5), unit: 'ms' },
    result('p50', 0.5),
    result('p99', 0.99),
    { name: 'the same for the first notice of a fresh agent', value: agent[0] ?? Number.NaN, unit: 'ms' },
  ];
};

/** Ms for each notice; the first one loads the HTTP client and connects. */
async function noticesThroughAgent(directory: string, receiver: Receiver, count: number): Promise<number[]> {
  await using imds = await openImds();
  const file = join(directory, 'agent.json');
  const hook = {
    type: 'webhook',
    url: receiver.url,
    allowHttp: true,
    filter: { transitions: ['scheduled'] },
  };
  const settings = { stateDir: join(directory, 'state'), sinks: { hook }, log: { level: 'silent' } };
  writeFileSync(file, JSON.stringify({ ...settings, imds: { endpoint: imds.url, pollInterval: '250ms' } }));
  await using _agent = startMeasured(process.execPath, [
    join(directory, 'dist/seb.cjs'),
    'agent',
    '-c',
    file,
  ]);
  // The agent introduces itself first; it must know its own name before it counts itself among the affected.
  await until('the agent polls', () => imds.polls() >= 8, patienceMs);
  const times: number[] = [];
  for (let round = 0; round < count; round++) {
    const arrived = receiver.next();
    const answeredAt = await within(patienceMs, 'the agent asks', imds.announce(round));
    times.push((await within(patienceMs, 'the notice arrives', arrived)) - answeredAt);
  }
  return times;
}

async function rawTimes(path: string, receiver: Receiver, count: number) {
  using file = openRawFile(path);
  const agent = new Agent();
  const body = encodeRecord(sampleRecord());
  const times = { flushes: [] as number[], posts: [] as number[], both: [] as number[] };
  for (let round = 0; round < count; round++) {
    const begun = performance.now();
    file.append(body);
    const flushed = performance.now();
    const arrived = receiver.next();
    await (await request(receiver.url, { method: 'POST', body, dispatcher: agent })).body.dump();
    const at = await arrived;
    times.flushes.push(flushed - begun);
    times.posts.push(at - flushed);
    times.both.push(at - begun);
  }
  await agent.close();
  return times;
}

interface Receiver extends Server {
  /** Resolves with the time (`performance.now()`) at which the next request arrives. */
  next(): Promise<number>;
}

async function openReceiver(): Promise<Receiver> {
  let waiting: ((at: number) => void) | undefined;
  const server = await listening((incoming, answer) => {
    waiting?.(performance.now());
    waiting = undefined;
    incoming.resume().on('end', () => answer.end());
  });
  return {
    ...server,
    next: () =>
      new Promise((resolve) => {
        waiting = resolve;
      }),
  };
}

interface Imds extends Server {
  /** How often the document was asked for. */
  polls(): number;
  /** Announces a new event. @returns the time at which an answer that names it has left */
  announce(round: number): Promise<number>;
}

const fixture = new URL('../../test/fixtures/imds/04-livemigration-2-scheduled.json', import.meta.url);

async function openImds(): Promise<Imds> {
  const sample = JSON.parse(readFileSync(fixture, 'utf8'));
  let document: object = { DocumentIncarnation: 1, Events: [] };
  let polls = 0;
  let answered: ((at: number) => void) | undefined;
  const server = await listening((incoming, answer) => {
    const asksForEvents = incoming.url?.includes('/scheduledevents') === true;
    answer.setHeader('content-type', 'application/json');
    const tell = asksForEvents ? answered : undefined;
    answer.end(JSON.stringify(asksForEvents ? document : instance), () => tell?.(performance.now()));
    if (asksForEvents) polls++;
  });
  return {
    ...server,
    polls: () => polls,
    announce: (round) => {
      const EventId = `00000000-0000-4000-8000-${String(round).padStart(12, '0')}`;
      const event = { ...sample.Events[0], EventId, Resources: [vmName] };
      document = { DocumentIncarnation: round + 2, Events: [event] };
      return new Promise((resolve) => {
        answered = resolve;
      });
    },
  };
}

/** Gives what is awaited, or fails when it takes too long. */
async function within<Value>(ms: number, what: string, awaited: Promise<Value>): Promise<Value> {
  const late = new AbortController();
  const limit = delay(ms, undefined, { signal: late.signal }).then(() => {
    throw new Error(`waited ${ms} ms in vain: ${what}`);
  });
  try {
    return await Promise.race([awaited, limit]);
  } finally {
    late.abort();
    limit.catch(() => undefined);
  }
}

async function listening(handler: http.RequestListener): Promise<Server> {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
