// Takes webhooks in the machine under test, and writes each down before it answers: one JSON line with path and id.
import { appendFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';

const log = '/var/lib/test/received.jsonl';
// While this file is there, nothing is answered: a receiver that hangs.
const hang = '/var/lib/test/receiver-hangs';

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (existsSync(hang)) return;
    const { id } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    appendFileSync(log, `${JSON.stringify({ path: request.url, id })}\n`, { flush: true });
    response.writeHead(204).end();
  });
});
server.listen(8180, '127.0.0.1');
