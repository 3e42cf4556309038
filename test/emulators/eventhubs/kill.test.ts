// SIGKILL in the middle of publishing: nothing acknowledged is lost, nothing a reader saw changes.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { type HubAddress, producerFor, startReception } from '../../support/hub-clients.ts';
import { startNode } from '../../support/process.ts';
import { projectRoot } from '../../support/source-files.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';

async function startChild(storePath: string) {
  const words = ['emulate', 'eventhubs', '--hub', 'hub', '--partitions', '1', '--store', storePath];
  const running = startNode(['src/cli.ts', ...words], { cwd: projectRoot });
  await running.until('}\n');
  return { ...running, address: JSON.parse(running.output().stdout) as HubAddress };
}

/** Sends numbers until the emulator is gone. @returns how many were acknowledged */
async function sendUntilKilled(address: HubAddress, first: number): Promise<number> {
  await using producer = producerFor(address, { timeoutInMs: 500, maxRetries: 0 });
  for (let body = first; ; body++) {
    const sent = producer.client.sendBatch([{ body }, { body: `${body} again` }]);
    if (
      !(await sent.then(
        () => true,
        () => false,
      ))
    )
      return body - first;
  }
}

it('keeps what it acknowledged, and every number that a reader saw, through SIGKILL', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'store');
  const seen = new Map<number, unknown>();
  const acknowledged: unknown[] = [];
  for (let round = 0; round < 2; round++) {
    await using child = await startChild(path);
    await using reception = startReception(child.address, { partition: '0' });
    const first = round * 100_000;
    const sending = sendUntilKilled(child.address, first);
    await until('the reader is on its way', () => reception.events.some(({ body }) => body === first + 5));
    await delay(Math.random() * 30);
    child.child.kill('SIGKILL');
    const count = await sending;
    for (let body = first; body < first + count; body++) acknowledged.push(body, `${body} again`);
    for (const { sequenceNumber, body } of reception.events) {
      expect(seen.has(sequenceNumber) ? seen.get(sequenceNumber) : body).toEqual(body);
      seen.set(sequenceNumber, body);
    }
  }
  await using last = await startChild(path);
  await using reception = startReception(last.address, { partition: '0' });
  await until('everything', () => {
    const bodies = new Set(reception.events.map(({ body }) => body as unknown));
    return acknowledged.every((body) => bodies.has(body));
  });
  expect(reception.events.map(({ sequenceNumber }) => sequenceNumber)).toEqual(
    reception.events.map((_, index) => index),
  );
  for (const { sequenceNumber, body } of reception.events)
    if (seen.has(sequenceNumber)) expect(body).toEqual(seen.get(sequenceNumber));
  expect(acknowledged.length).toBeGreaterThan(20);
}, 60_000);
