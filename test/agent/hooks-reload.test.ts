// SIGHUP and SIGTERM to a real `seb agent` while a hook runs: the one waits for it, the other ends it in time.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { hookDocument, hookEvent, hookScripts, outcomesIn } from '../support/hooks.ts';
import { startNode } from '../support/process.ts';
import { recordsIn } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

test('a changed file waits for the hook in hand, the next hooks are those of the new file, and SIGTERM waits for none', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const { script, said, at } = hookScripts(directory.path);
  const slow = script(
    'slow',
    `say "slow $1"; while [ ! -e '${at('go')}' ]; do sleep 0.05; done; say 'slow ends'`,
  );
  const stuck = script('stuck', `trap '' TERM; say stuck; while :; do sleep 0.2; done`);
  const path = at('agent.yaml');
  const write = (hooks: readonly object[], more: object = {}): void =>
    writeFileSync(
      path,
      JSON.stringify({
        stateDir: join(directory.path, 'state'),
        imds: { endpoint: imds.url, pollInterval: '250ms' },
        sinks: { local: { type: 'file', path: at('events.jsonl') } },
        hooks,
        ...more,
      }),
    );
  const prepare = (...command: string[]) => ({ on: 'prepare', command });
  write([prepare(slow, 'one'), prepare(slow, 'never')]);
  imds.show(hookDocument(hookEvent('a')));
  await using agent = startNode([cli, 'agent', '-c', path]);
  await until('the hook', () => said().length === 1, 40_000);
  const count = (text: string): number => agent.output().stderr.split(text).length - 1;

  write([prepare(slow, 'one'), prepare(slow, 'never')], { heartbeatInterval: '2h' });
  agent.child.kill('SIGHUP');
  await agent.until('it waits for the hook in hand to end');
  // What is read while it waits counts, too.
  write([prepare(slow, 'one'), prepare(stuck)]);
  agent.child.kill('SIGHUP');
  const polls = imds.requests.length;
  await until('more polls', () => imds.requests.length > polls + 3);
  expect(count('is taken up')).toBe(0);
  writeFileSync(at('go'), '');
  await until('the hook of the new file', () => said().includes('stuck'));
  expect(said()).toEqual(['slow one', 'slow ends', 'stuck']);
  expect(count('is taken up')).toBe(1);
  const found = () => outcomesIn(recordsIn(at('events.jsonl')));
  await until('its record', () => found().length === 3);
  const from = Date.now();
  agent.child.kill('SIGTERM');
  expect(await agent.ended()).toBe(0);
  expect(Date.now() - from).toBeLessThan(6_000);
  expect(found()).toEqual(['prepare started', 'prepare succeeded', 'prepare started']);
}, 60_000);
