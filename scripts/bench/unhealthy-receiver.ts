// Two receivers that take nothing, in a process of their own: one never answers, one says 503 after a while.
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const silent = createServer((socket) => void socket.resume().on('error', () => undefined));
const busy = createHttpServer(async (request, response) => {
  request.resume();
  await once(request, 'end');
  await delay(500);
  response.writeHead(503).end();
});
for (const server of [silent, busy]) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}
const urlOf = (server: typeof silent): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
console.log(JSON.stringify({ silent: urlOf(silent), busy: urlOf(busy) }));
