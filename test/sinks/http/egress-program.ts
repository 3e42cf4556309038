// A program that sends to places where it must not, in a network where it would arrive, and prints what came of it.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openPassingMemory } from '../../../src/sinks/memory.ts';
import { openNameServer } from '../../support/name-server.ts';
import { outgoing, sampleRecord } from '../../support/records.ts';
import { openSink, sinkSettings } from '../../support/sink-kinds.ts';

const port = 8080;
const [harmless = '', ...hosts] = process.argv.slice(2);
const context = { imdsEndpoint: 'http://127.0.0.1:9', version: '1.0.0', memory: openPassingMemory() };

/** The addresses that somebody connected to. */
const reached: string[] = [];
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  const { pathname } = new URL(request.url ?? '/', 'http://x');
  if (pathname === '/') return response.writeHead(200).end();
  response.writeHead(302, { location: `http://${pathname.slice(1)}:${port}/` }).end();
});
server.on('connection', (socket) => reached.push(socket.localAddress ?? ''));
// Every address of this machine, of both kinds.
server.listen(port, '::');
await once(server, 'listening');
const names = await openNameServer({ 'rebinding.test': [harmless, '169.254.169.254'], 'failing.test': [] });

const send = async (host: string, path = '/') => {
  const given = { type: 'webhook', url: `http://${host}:${port}${path}`, allowHttp: true };
  await using sink = openSink('under-test', sinkSettings.parse(given), context).sink;
  reached.length = 0;
  const outcome = await sink.send(outgoing(sampleRecord()), new AbortController().signal);
  return { outcome, reached: [...reached] };
};

const direct: Record<string, unknown> = {};
for (const host of hosts) direct[host] = await send(host);
const rebound = {
  first: await send('rebinding.test'),
  asked: names.asked('rebinding.test'),
  second: await send('rebinding.test'),
};
const redirected = await send(harmless, '/169.254.169.254');
console.log(JSON.stringify({ direct, rebound, redirected }));
await names[Symbol.asyncDispose]();
server.close();
