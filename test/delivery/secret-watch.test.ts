// A sink that is suspended for its secret takes records again soon after the file of the secret was changed.
import { chmodSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { issueCertificate } from '../support/certificate.ts';
import { hurriedClock } from '../support/clocks.ts';
import { openInbox } from '../support/inbox.ts';
import { type RunningAgent, startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const scheduled = readFileSync(
  new URL('../fixtures/imds/04-livemigration-2-scheduled.json', import.meta.url),
  'utf8',
);

// It looks every 5 s.
const clock = hurriedClock(5_000, 50);

const suspensions = (agent: RunningAgent) =>
  agent.log.lines.filter(({ message }) => message.startsWith('the sink is suspended'));
const wakings = (agent: RunningAgent) =>
  agent.log.lines.filter(({ message }) => message === 'the suspended sink is tried again');

/** An agent whose webhook is suspended, because its receiver refuses the token in the file. */
async function suspendedFor(file: string, directory: string) {
  const resources = new AsyncDisposableStack();
  const imds = resources.use(await startImdsEmulator());
  const inbox = resources.use(await openInbox({ answer: { status: 401 } }));
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true, headers: { 'x-token': { file } } };
  const other = { type: 'webhook', url: `${inbox.url}/other`, allowHttp: true };
  const agent = resources.use(startAgent(directory, imds.url, { sinks: { hook, other } }, { clock }));
  imds.show(scheduled);
  await until('both sinks to be suspended', () => suspensions(agent).length === 2);
  inbox.answer({ status: 200 });
  return { agent, inbox, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

test.each<[string, (directory: string) => void, (directory: string) => void]>([
  [
    'is written anew',
    (directory) => writeFileSync(join(directory, 'token'), 'old'),
    (directory) => writeFileSync(join(directory, 'token'), 'new'),
  ],
  [
    'is replaced by another of the same size',
    (directory) => writeFileSync(join(directory, 'token'), 'old'),
    (directory) => {
      writeFileSync(join(directory, 'next'), 'new');
      renameSync(join(directory, 'next'), join(directory, 'token'));
    },
  ],
  [
    'is behind a link that is swapped, as with mounted secrets',
    (directory) => {
      for (const [name, token] of Object.entries({ first: 'old', second: 'new' })) {
        mkdirSync(join(directory, name));
        writeFileSync(join(directory, name, 'token'), token);
      }
      symlinkSync('first', join(directory, 'data'));
      symlinkSync('data/token', join(directory, 'token'));
    },
    (directory) => {
      symlinkSync('second', join(directory, 'data.next'));
      renameSync(join(directory, 'data.next'), join(directory, 'data'));
    },
  ],
  ['appears', () => undefined, (directory) => writeFileSync(join(directory, 'token'), 'new')],
])(
  'when its file %s the sink is woken, within seconds, and no other sink is',
  async (_how, before, after) => {
    using directory = temporaryDirectory();
    before(directory.path);
    const file = join(directory.path, 'token');
    await using suspended = await suspendedFor(file, join(directory.path, 'state'));
    const { agent, inbox } = suspended;
    expect(wakings(agent)).toEqual([]);
    const asked = inbox.requests.length;
    after(directory.path);
    await inbox.received(asked + 1);
    expect(inbox.requests.at(-1)?.headers['x-token']).toBe('new');
    expect(wakings(agent).map(({ fields }) => fields['sink'])).toEqual(['hook']);
    expect(inbox.requests.filter(({ path }) => path === '/other')).toHaveLength(1);
  },
);

test('a file whose rights were mended wakes the sink too', async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, 'token');
  writeFileSync(file, 'good', { mode: 0o000 });
  await using suspended = await suspendedFor(file, join(directory.path, 'state'));
  chmodSync(file, 0o600);
  await until('the waking', () => wakings(suspended.agent).length === 1);
});

test('without a change nothing is tried again, however often the files are looked at', async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, 'token');
  writeFileSync(file, 'old');
  await using suspended = await suspendedFor(file, join(directory.path, 'state'));
  const { agent, inbox } = suspended;
  const asked = inbox.requests.length;
  const start = performance.now();
  await until('many looks', () => performance.now() - start > 500);
  expect([inbox.requests.length, wakings(agent).length]).toEqual([asked, 0]);
});

test('a certificate file that is mended wakes the sink', async () => {
  using directory = temporaryDirectory();
  const caFile = join(directory.path, 'ca.pem');
  const ours = issueCertificate();
  writeFileSync(caFile, 'half a certificate');
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox({ tls: ours });
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true, tls: { caFile } };
  await using agent = startAgent(join(directory.path, 'state'), imds.url, { sinks: { hook } }, { clock });
  imds.show(scheduled);
  await until('the suspension', () => suspensions(agent).length === 1);
  writeFileSync(caFile, ours.cert);
  await inbox.received(1);
});

test('a secret that changes while an attempt with the old one is in hand wakes the sink after that attempt', async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, 'token');
  writeFileSync(file, 'old');
  await using imds = await startImdsEmulator();
  await using receiver = await slowJudge();
  const hook = { type: 'webhook', url: receiver.url, allowHttp: true, headers: { 'x-token': { file } } };
  await using agent = startAgent(join(directory.path, 'state'), imds.url, { sinks: { hook } }, { clock });
  imds.show(scheduled);
  await until('the attempt', () => receiver.waiting() === 1);
  writeFileSync(file, 'new');
  const start = performance.now();
  await until('some looks', () => performance.now() - start > 300);
  receiver.judge();
  await until('another attempt', () => receiver.tokens.length === 2);
  receiver.judge();
  expect(receiver.tokens).toEqual(['old', 'new']);
  expect(suspensions(agent)).toHaveLength(1);
});

test('a change that the sink got on with costs one attempt when it is suspended later, and no more', async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, 'token');
  writeFileSync(file, 'old');
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true, headers: { 'x-token': { file } } };
  await using agent = startAgent(join(directory.path, 'state'), imds.url, { sinks: { hook } }, { clock });
  await until('polls', () => imds.requests.length > 2);
  writeFileSync(file, 'new');
  inbox.answer({ status: 401 });
  imds.show(scheduled);
  await inbox.received(2);
  const start = performance.now();
  await until('many looks', () => performance.now() - start > 500);
  expect([inbox.requests.length, wakings(agent).length]).toEqual([2, 1]);
});

/** A receiver that takes the token `new` only, and answers nobody before it is told to. */
async function slowJudge() {
  const tokens: unknown[] = [];
  const waiting: (() => void)[] = [];
  const server = http.createServer((request, response) => {
    const token = request.headers['x-token'];
    tokens.push(token);
    waiting.push(() => response.writeHead(token === 'new' ? 200 : 401).end());
    request.resume();
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens,
    waiting: () => waiting.length,
    judge: () => waiting.shift()?.(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
