// The server of the status page: what it answers, what it refuses, and what it lets nobody do to the program.
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ListenAddress } from '../../src/config/listen.ts';
import { type StatusPages, serveStatus } from '../../src/status/server.ts';
import { hurriedClock } from '../support/clocks.ts';
import { type RecordingLog, recordingLog } from '../support/recording-log.ts';
import { until } from '../support/until.ts';

const marker = 'MARKER-OF-A-SECRET';
const pages: StatusPages = {
  '/page': () => ({ status: 200, contentType: 'text/plain', body: 'a page, ü\n' }),
  '/sick': () => ({ status: 503, contentType: 'text/plain', body: 'sick\n' }),
  '/never': () => new Promise(() => undefined),
  '/late': async () => {
    await delay(500);
    return { status: 200, contentType: 'text/plain', body: 'late\n' };
  },
  '/broken': () => {
    throw new TypeError(marker);
  },
};

const anyPort: ListenAddress = { host: '127.0.0.1', port: 0 };

function serve(listen: ListenAddress = anyPort) {
  const log = recordingLog();
  const stopping = new AbortController();
  // It tries again every 30 s.
  const clock = hurriedClock(30_000, 20);
  const end = serveStatus(listen, pages, { clock, log, signal: stopping.signal });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await end;
  };
  return {
    log,
    stop,
    url: async () => {
      const served = () => log.lines.find(({ message }) => message === 'the status is served');
      return `http://${(await until('the server', served)).fields['address']}`;
    },
    [Symbol.asyncDispose]: stop,
  };
}

test('a page is read with GET, and its head with HEAD', async () => {
  await using server = serve();
  const url = await server.url();
  const page = await fetch(`${url}/page?x=1`);
  expect([page.status, await page.text()]).toEqual([200, 'a page, ü\n']);
  expect(Object.fromEntries(page.headers)).toMatchObject({
    'content-type': 'text/plain',
    'content-length': '11',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  const head = await fetch(`${url}/page`, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '11', '']);
  expect((await fetch(`${url}/sick`)).status).toBe(503);
});

test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])(
  '%s is refused with what is allowed',
  async (method) => {
    await using server = serve();
    const answer = await fetch(`${await server.url()}/page`, { method });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  },
);

test.each(['/', '/page/', '/PAGE', '/../page', '/toString', '/__proto__', '//page'])(
  'there is no page %s',
  async (path) => {
    await using server = serve();
    const { port } = new URL(await server.url());
    const request = http.get({ host: '127.0.0.1', port, path });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(404);
  },
);

test('a page that breaks answers 500, and its error reaches neither the reader nor the log', async () => {
  await using server = serve();
  const answer = await fetch(`${await server.url()}/broken`);
  expect([answer.status, await answer.text()]).toEqual([500, 'This page failed.\n']);
  expect(server.log.lines.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { path: '/broken', error: 'TypeError' } },
  ]);
  expect(JSON.stringify(server.log.lines)).not.toContain(marker);
});

test('a port in use is told once, tried again, and taken when it is free', async () => {
  const other = net.createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await using server = serve({ host: '127.0.0.1', port });
  const errors = () => server.log.lines.filter(({ level }) => level === 'error');
  await until('the error', () => errors().length > 0);
  expect(errors()).toMatchObject([{ fields: { address: `127.0.0.1:${port}`, fault: 'EADDRINUSE' } }]);
  const tried = performance.now();
  await until('several more tries', () => performance.now() - tried > 200);
  other.close();
  expect(await server.url()).toBe(`http://127.0.0.1:${port}`);
  expect(errors()).toHaveLength(1);
});

test('an address that this machine does not have is told, and the server still ends when it should', async () => {
  const server = serve({ host: '192.0.2.1', port: 9464 });
  await until('the error', () => server.log.lines.some(({ fields }) => fields['fault'] === 'EADDRNOTAVAIL'));
  await server.stop();
});

const warningsOf = ({ log }: { log: RecordingLog }) => log.lines.filter(({ level }) => level === 'warn');

test('it is said once that an address beyond this machine can be read by others', async () => {
  // An address for documentation: no machine has it, so nothing is opened to anybody.
  await using server = serve({ host: '192.0.2.1', port: 9464 });
  await until('a try', () => server.log.lines.some(({ level }) => level === 'error'));
  expect(warningsOf(server)).toMatchObject([{ fields: { address: '192.0.2.1:9464' } }]);
  await using quiet = serve();
  await quiet.url();
  expect(warningsOf(quiet)).toEqual([]);
});

const connect = (url: string): net.Socket =>
  net.connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);

test('readers that say nothing, and pages that never come, do not keep the server from ending', async () => {
  await using server = serve();
  const url = await server.url();
  const sockets = Array.from({ length: 20 }, () => connect(url));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  sockets[0]?.write('GET /never HTTP/1.1\r\nHost: x\r\n\r\n');
  expect((await fetch(`${url}/page`)).status).toBe(200);
  const closed = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
  await server.stop();
  await closed;
  // The limit is the claim: left to itself, such a connection is cut after 6 s.
}, 5_000);

test('more connections than there can be readers are closed, and the others are answered', async () => {
  await using server = serve();
  const url = await server.url();
  let answered = 0;
  let closed = 0;
  for (let count = 0; count < 50; count += 1) {
    const socket = connect(url);
    socket.once('data', () => {
      answered += 1;
    });
    socket.once('close', () => {
      closed += 1;
    });
    // Not asked to stay: each is closed after its answer, but not before all have come.
    socket.write('GET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  }
  await until('all to be over', () => closed === 50);
  expect(answered).toBe(32);
});

test('a request that never ends is cut off', async () => {
  await using server = serve();
  const { port } = new URL(await server.url());
  const socket = net.connect(Number(port), '127.0.0.1').on('error', () => undefined);
  socket.write('GET /page HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  await once(socket.resume(), 'close');
});
