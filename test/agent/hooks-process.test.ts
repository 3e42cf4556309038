// Real programs run as hooks: no shell, no secrets, no hanging, and nothing left of them when their time is over.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type HookRun, runHook } from '../../src/agent/hooks/hook-process.ts';
import { systemClock } from '../../src/clock.ts';
import { type HookScripts, hookScripts } from '../support/hooks.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const environment = { PATH: '/usr/bin:/bin' };

const run = (command: HookRun['command'], change: Partial<HookRun> = {}) =>
  runHook({
    ...{ command, environment, standardInput: '{}\n', timeoutMs: 10_000, clock: systemClock },
    ...{ signal: new AbortController().signal, ...change },
  });

async function withScripts<Result>(work: (scripts: HookScripts) => Promise<Result>): Promise<Result> {
  using directory = temporaryDirectory();
  return await work(hookScripts(directory.path));
}

async function timed<Value>(work: Promise<Value>): Promise<readonly [Value, number]> {
  const from = performance.now();
  return [await work, performance.now() - from];
}

/** Whether a process is there and does something; one that nobody has taken leave of does nothing. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const gone = (pid: number) => until(`process ${pid} to be gone`, () => !isAlive(pid));

describe.concurrent('a program', () => {
  test('gets its words as they stand, with no shell between, the event on standard input, and no variable but its own', async () => {
    process.env['SEB_TEST_SECRET'] = 'MARKER';
    const words = ['$HOME', '`id`', '; exit 3', 'a  b', '*', ''];
    const end = await withScripts(async ({ script }) => {
      const program = script('show', `for word in "$@"; do echo "[$word]"; done; cat; env | sort; pwd`);
      return await run([program, ...words], {
        environment: { ...environment, SEB_DESCRIPTION: '$(touch /tmp/never)' },
        standardInput: '{"eventId":"x"}\n',
      });
    });
    delete process.env['SEB_TEST_SECRET'];
    const lines = end.output.text.split('\n');
    expect(lines.slice(0, 7)).toEqual([...words.map((word) => `[${word}]`), '{"eventId":"x"}']);
    // The shell that runs the script sets some itself.
    expect(lines.slice(7).filter((line) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line))).toEqual([
      ...['PATH=/usr/bin:/bin', 'SEB_DESCRIPTION=$(touch /tmp/never)', '/', ''],
    ]);
    expect(end).toMatchObject({ outcome: 'succeeded', reason: null, exitCode: 0, signal: null });
  });

  test('that fails says by what: its exit code, or the signal that ended it', async () => {
    await withScripts(async ({ script }) => {
      const failed = await run([script('fail', 'echo out; echo err >&2; exit 7')]);
      expect(failed).toMatchObject({ outcome: 'failed', exitCode: 7, signal: null });
      expect(failed.output.text.split('\n').toSorted()).toEqual(['', 'err', 'out']);
      const killed = await run([script('die', 'kill -9 $$')]);
      expect(killed).toMatchObject({ outcome: 'failed', exitCode: null, signal: 'SIGKILL' });
    });
  });

  test('that the system does not run is not started, with the system’s own word', async () => {
    await withScripts(async ({ at, script }) => {
      expect(await run([at('nowhere')])).toMatchObject({ outcome: 'not-started', reason: 'ENOENT' });
      expect(await run([script('plain', '', 0o644)])).toMatchObject({
        outcome: 'not-started',
        reason: 'EACCES',
      });
      expect(await run(['/bin/echo', 'a\u0000b'])).toMatchObject({ outcome: 'not-started' });
    });
  });

  test('that does not read its standard input is no failure, however much that is', async () => {
    const end = await run(['/bin/true'], { standardInput: 'x'.repeat(1_000_000) });
    expect(end.outcome).toBe('succeeded');
  });

  test('that leaves a child behind with its pipes open is over when it ends itself, and the child lives', async () => {
    await withScripts(async ({ script, said }) => {
      const program = script('leave', 'sleep 30 & say $!; echo done');
      const [end, tookMs] = await timed(run([program]));
      expect(end).toMatchObject({ outcome: 'succeeded', output: { text: 'done\n' } });
      expect(tookMs).toBeLessThan(15_000);
      const child = Number(said()[0]);
      expect(isAlive(child)).toBe(true);
      process.kill(child, 'SIGKILL');
    });
  });

  test('that takes too long is ended, with all it has started, also what does not want to end', async () => {
    await withScripts(async ({ script, said }) => {
      const stubborn = `sh -c 'trap "" TERM; while :; do sleep 0.2; done' & say $!`;
      const program = script('hang', `${stubborn}; sleep 60 & say $!; say $$; echo begun; wait`);
      const [end, tookMs] = await timed(run([program], { timeoutMs: 1_200 }));
      expect(end).toMatchObject({ outcome: 'timed-out', output: { text: expect.stringContaining('begun') } });
      // 1.2 s of its own, 2 s for what does not listen, and what a busy machine adds.
      expect(tookMs).toBeGreaterThan(3_000);
      expect(tookMs).toBeLessThan(7_000);
      const pids = said().map(Number);
      expect(pids).toHaveLength(3);
      for (const pid of pids) await gone(pid);
    });
  });

  test('that ends when it is asked to is not waited for, and has timed out all the same', async () => {
    await withScripts(async ({ script }) => {
      const program = script('polite', `trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done`);
      const [end, tookMs] = await timed(run([program], { timeoutMs: 1_200 }));
      const output = { text: expect.stringContaining('bye\n') };
      expect(end).toMatchObject({ outcome: 'timed-out', exitCode: 0, output });
      expect(tookMs).toBeLessThan(3_000);
    });
  });

  test('that is interrupted is ended by force after 2 s, whatever it thinks of that', async () => {
    await withScripts(async ({ script, said }) => {
      const program = script('deaf', `trap '' TERM INT HUP; say $$; while :; do sleep 0.2; done`);
      const ending = new AbortController();
      const work = run([program], { signal: ending.signal });
      await until('it to run', () => said().length === 1);
      ending.abort();
      const [end, tookMs] = await timed(work);
      expect(end).toMatchObject({ outcome: 'interrupted', signal: 'SIGKILL' });
      // The rest is what a busy machine adds.
      expect(tookMs).toBeLessThan(6_000);
      await gone(Number(said()[0]));
    });
  });

  test('is interrupted at once when the end had begun before it', async () => {
    const [end, tookMs] = await timed(run(['/bin/sleep', '30'], { signal: AbortSignal.abort() }));
    expect(end.outcome).toBe('interrupted');
    expect(tookMs).toBeLessThan(15_000);
  });
});

test('a program that writes without end keeps nobody from anything else', async () => {
  const end = await run(['/usr/bin/yes'], { timeoutMs: 1_500 });
  expect(end).toMatchObject({ outcome: 'timed-out', output: { truncated: true } });
  expect(end.output.text).toMatch(/^y\ny\n[\s\S]*left out[\s\S]*y\n$/);
  // Read as fast as it comes it would be gigabytes, and the processor would do nothing else.
  const bytes = Number(/(\d+) bytes left out/.exec(end.output.text)?.[1]);
  expect(bytes).toBeGreaterThan(100_000);
  expect(bytes).toBeLessThan(45 * 1024 * 1024);
});
