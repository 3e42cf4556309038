// Whether a notifier that is killed at any moment tells each fact all the same, and none more often than it was killed.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openInbox } from '../support/inbox.ts';
import { hookTo, idsIn, journalAt, openNoticeWriter } from '../support/noticing.ts';
import { type RunningProcess, startNode } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const child = join(import.meta.dirname, '../support/noticing-child.ts');
const kills = 20;

test(`a notifier that is killed ${kills} times tells every fact, repeats at most one for each kill with the same bytes, and the journal says who got what`, async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using writer = openNoticeWriter(openSqliteTrail(path));
  await writer.write(0);
  await using inbox = await openInbox();
  await using chat = await openInbox({ answer: { body: 'ok' } });
  const sinks = {
    hook: hookTo(inbox),
    ops: { type: 'slack', url: `${chat.url}/services/T/B/x`, allowHttp: true },
  };
  const given = JSON.stringify({
    trail: { path },
    notify: { stateDir: join(directory.path, 'notify'), sinks, groupWait: '5ms' },
  });
  const start = (): RunningProcess => startNode([child, given]);
  // The first run only finds where it begins.
  let running = start();
  await using _last = { [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
  await until('a beginning', async () => (await journalAt(path, 'notify-position')).length > 0);
  const expected: string[] = [];
  for (let kill = 1; kill <= kills; kill++) {
    // Most of them while it works, and some while it begins.
    await running.until(kill % 5 === 0 ? 'started' : 'notices are sent from here');
    for (const event of [2 * kill, 2 * kill + 1]) {
      expected.push(...(await writer.write(event)));
    }
    await delay(Math.random() * 200);
    running.child.kill('SIGKILL');
    await running.ended();
    running = start();
  }
  const got = (): Set<string> => new Set(idsIn(inbox));
  await until('every fact at the sink', () => expected.every((id) => got().has(id)));
  const told = async (sink: string): Promise<string[]> =>
    (await journalAt(path, 'notified'))
      .filter((receipt) => receipt.sink === sink && receipt.outcome === 'delivered')
      .flatMap(({ facts }) => facts);
  await until('every receipt', async () => {
    const [hook, ops] = [new Set(await told('hook')), new Set(await told('ops'))];
    return expected.every((id) => hook.has(id) && ops.has(id));
  });
  running.child.kill('SIGTERM');
  expect(await running.ended(), running.output().stderr).toBe(0);

  expect([...got()].sort()).toEqual(expected.toSorted());
  expect(new Set(await told('hook'))).toEqual(got());
  expect(inbox.requests.length - got().size).toBeLessThanOrEqual(kills);
  const hashes = new Map<string, Set<string>>();
  for (const { body, headers } of inbox.requests) {
    const id = String(headers['webhook-id']);
    hashes.set(id, (hashes.get(id) ?? new Set()).add(createHash('sha256').update(body).digest('hex')));
  }
  expect([...hashes.values()].filter(({ size }) => size > 1)).toEqual([]);
}, 60_000);
