// What a metadata service that is broken, or not the one it should be, can do to an agent: nothing but make it wait.
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as each, expect } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openInbox } from '../support/inbox.ts';
import { startNode } from '../support/process.ts';
import { type RunningAgent, startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

// Most of each test is waiting: they wait side by side.
const test = each.concurrent;
const patience = { timeout: 60_000 };

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const scheduled = readFileSync(
  join(import.meta.dirname, '../fixtures/imds/04-livemigration-2-scheduled.json'),
  'utf8',
);

interface Service extends AsyncDisposable {
  readonly url: string;
  /** From now on, each poll gets this. */
  answer: (response: http.ServerResponse) => void;
  /** The requests so far, method and path each. */
  readonly requests: readonly string[];
}

async function openService(): Promise<Service> {
  const requests: string[] = [];
  const server = http.createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    service.answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const service: Service = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: (response) => void response.end(scheduled),
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return service;
}

/** What the agent said last of its source. */
const stateOf = (agent: RunningAgent): unknown =>
  agent.log.lines.findLast(({ message }) => message.startsWith('source'))?.fields['state'];

/** Sends as fast as the other side reads, until it lets go. */
function sendWithoutEnd(response: http.ServerResponse, sent: { bytes: number }): void {
  const chunk = Buffer.alloc(64 * 1024, '[');
  const more = (): void => {
    while (!response.destroyed) {
      sent.bytes += chunk.length;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
  };
  more();
}

test(
  'an answer without end is let go of after a few megabytes, and the next good one counts',
  patience,
  async () => {
    using directory = temporaryDirectory();
    await using service = await openService();
    await using agent = startAgent(directory.path, service.url);
    await until('the event', () => agent.eventRecords().length === 1);
    const sent = { bytes: 0, answers: 0 };
    service.answer = (response) => {
      sent.answers += 1;
      sendWithoutEnd(response, sent);
    };
    await until('the source to fail', () => stateOf(agent) === 'failing', 30_000);
    // It stops at 4 MiB; the rest is what was on its way.
    expect(sent.bytes / sent.answers).toBeLessThan(16 * 1024 * 1024);
    service.answer = (response) => void response.end(scheduled);
    await until('the source to be well', () => stateOf(agent) === 'fresh', 30_000);
    expect(agent.eventRecords()).toHaveLength(1);
  },
);

test.each([
  ['JSON that is nested a million deep', `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`],
  ['a document whose events are nested', `{"DocumentIncarnation":1,"Events":${'[{"Events":'.repeat(50_000)}`],
  ['no text at all', Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x80])],
  ['a page of a portal', '<html><script>alert(1)</script></html>'],
  ['the prototype of everything', '{"__proto__":{"eventId":"x"},"DocumentIncarnation":1}'],
])('%s is no document, and ends nothing', patience, async (_, body) => {
  using directory = temporaryDirectory();
  await using service = await openService();
  await using agent = startAgent(directory.path, service.url);
  await until('the event', () => agent.eventRecords().length === 1);
  service.answer = (response) => void response.end(body);
  const before = service.requests.length;
  await until('three polls', () => service.requests.length > before + 2, 30_000);
  service.answer = (response) => void response.end(scheduled);
  const isFresh = () =>
    agent.log.lines.findLast(({ message }) => message.startsWith('source'))?.fields['state'];
  await until('the source to be well', () => isFresh() === 'fresh', 30_000);
  expect(agent.eventRecords().map(({ data }) => data.transition)).toEqual(['scheduled']);
});

test('a redirect to another place is not followed', async () => {
  using directory = temporaryDirectory();
  await using service = await openService();
  await using elsewhere = await openInbox();
  service.answer = (response) => void response.writeHead(302, { location: elsewhere.url }).end();
  await using agent = startAgent(directory.path, service.url);
  const isRefused = () => agent.log.lines.some(({ fields }) => fields['state'] === 'refused');
  await until('the refusal', isRefused);
  expect(elsewhere.requests).toEqual([]);
});

// Clears the screen, three times over; turns text around; breaks the line.
const steering = '\u001b[2J\u009b2J\u202e\u2028\n\u0007';
const unseen = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

test('what it says steers no terminal through the log, and begins no line of its own', patience, async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const evil = JSON.parse(scheduled);
  for (const key of ['EventId', 'EventType', 'EventStatus', 'EventSource', 'Description', 'ResourceType']) {
    evil.Events[0][key] = `${key}${steering}{"level":"error"}`;
  }
  evil.Events[0].Resources = [`vm${steering}`];
  evil.DocumentIncarnation = `7${steering}`;
  imds.show(evil);
  const file = join(directory.path, 'agent.yaml');
  const settings = {
    stateDir: join(directory.path, 'state'),
    imds: { endpoint: imds.url, pollInterval: '250ms' },
    sinks: { out: { type: 'file', path: join(directory.path, 'out.jsonl') } },
    log: { level: 'trace' },
  };
  writeFileSync(file, JSON.stringify(settings));
  await using agent = startNode([cli, 'agent', '-c', file]);
  const written = () => readFileSync(join(directory.path, 'out.jsonl'), 'utf8').includes('.event.');
  await agent.until('delivered');
  await until('the event to be written down', written, 30_000);
  agent.child.kill('SIGTERM');
  expect(await agent.ended()).toBe(0);
  const log = agent.output().stderr;
  expect(unseen.exec(log)).toBeNull();
  for (const line of log.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ program: 'agent' });
});

test('what it says steers no terminal through what a command complains of', async () => {
  await using service = await openService();
  service.answer = (response) => void response.writeHead(400).end(JSON.stringify({ error: `no${steering}` }));
  await using run = startNode([cli, 'current', '--endpoint', service.url]);
  expect(await run.ended()).toBe(1);
  expect(run.output().stderr).toContain('it says: no');
  expect(unseen.exec(run.output().stderr)).toBeNull();
});
