// What dead sinks cost the healthy ones: seven webhooks drain the same queue alone, and beside three that are dead.
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type RunningProcess, startNode } from '../../test/support/process.ts';
import { until } from '../../test/support/until.ts';
import { queueForWebhooks } from '../../test/support/webhook-queues.ts';
import { diskDirectory } from './raw-disk.ts';
import type { Bench } from './result.ts';

const healthy = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'] as const;
const hourMs = 3_600_000;

export const run: Bench = async ({ quick }) => {
  const count = quick ? 100 : 10_000;
  await using receiver = startNode([pathOf('receiver.ts')]);
  await using unhealthy = startNode([pathOf('unhealthy-receiver.ts')]);
  const { url = '' } = await firstLine(receiver);
  const { silent = '', busy = '' } = await firstLine(unhealthy);
  const alive = Object.fromEntries(healthy.map((name) => [name, `${url}${name}`]));
  const dead = { refuses: `http://127.0.0.1:${await deadPort()}/`, silent, busy };
  // The first round only warms up.
  await perSecond(alive, Math.min(count, 200));
  // Alone, beside, alone: a machine is never twice the same.
  const before = await perSecond(alive, count);
  const beside = await perSecond({ ...dead, ...alive }, count);
  const after = await perSecond(alive, count);
  return [
    {
      name: `${count} records to each of seven webhooks beside three dead ones`,
      value: beside,
      unit: 'records/s',
      baseline: { name: 'the seven alone', value: (before + after) / 2 },
    },
  ];
};

/** How many records a second the healthy sinks take together, until they have taken all. */
async function perSecond(urls: Readonly<Record<string, string>>, count: number): Promise<number> {
  using directory = diskDirectory();
  await using queues = queueForWebhooks(directory.path, urls, count);
  const begun = performance.now();
  queues.start();
  const isDone = (): boolean => healthy.every((name) => queues.settled.get(name) === count);
  await until('the healthy to have everything', isDone, hourMs);
  return (1_000 * healthy.length * count) / (performance.now() - begun);
}

/** A port where nobody listens any more. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** What a program says about itself in its first line. */
async function firstLine(program: RunningProcess): Promise<Readonly<Record<string, string>>> {
  await program.until('\n');
  return JSON.parse(program.output().stdout.split('\n')[0] ?? '{}');
}

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
