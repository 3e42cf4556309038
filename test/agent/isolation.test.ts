// Ten webhooks, three of them dead in different ways: what the healthy ones get, and what becomes of the others.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openInbox } from '../support/inbox.ts';
import { listenSilently } from '../support/silent-server.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { queueForWebhooks, waitingAt } from '../support/webhook-queues.ts';

const healthy = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
const count = 40;

/** A port where nobody listens any more. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('seven healthy sinks get everything, each in order, while three dead ones still hold all of theirs', async () => {
  using directory = temporaryDirectory();
  await using inbox = await openInbox();
  await using silent = await listenSilently();
  await using busy = await openInbox({ answer: { status: 503 } });
  await using queues = queueForWebhooks(
    directory.path,
    {
      refuses: `http://127.0.0.1:${await deadPort()}/`,
      silent: `http://127.0.0.1:${silent.port}/`,
      busy: `${busy.url}/`,
      ...Object.fromEntries(healthy.map((name) => [name, `${inbox.url}/${name}`])),
    },
    count,
  );
  queues.start();
  const isDone = (): boolean => healthy.every((name) => queues.settled.get(name) === count);
  await until('all of the healthy to be settled', isDone, 60_000);
  expect(waitingAt(queues.outbox)).toMatchObject({ refuses: count, silent: count, busy: count });
  expect(silent.connections).toBe(1);
  for (const name of healthy) {
    const taken = inbox.requests.filter(({ path }) => path === `/${name}`);
    const sequences = taken.map(({ body }) => Number(JSON.parse(body.toString('utf8')).sequence));
    expect(sequences).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  }
});
