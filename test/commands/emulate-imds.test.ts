// `seb emulate imds` as a process: what it prints, what it plays and how it ends.
import { expect, it } from 'vitest';
import { runCommandLine } from '../support/command-line.ts';
import { ask, documentAt, eventsPath } from '../support/imds-client.ts';
import { startNode } from '../support/process.ts';
import { projectRoot } from '../support/source-files.ts';
import { until } from '../support/until.ts';

const startEmulator = (...words: readonly string[]) =>
  startNode(['src/cli.ts', 'emulate', 'imds', ...words], { cwd: projectRoot });

interface Announcement {
  readonly url: string;
  readonly vms: readonly { readonly name: string; readonly url: string }[];
}

async function announcementOf(running: ReturnType<typeof startNode>): Promise<Announcement> {
  await running.until('}\n');
  return JSON.parse(running.output().stdout) as Announcement;
}

it('prints one JSON line, plays its scenario, throttles as Azure does and ends on SIGTERM', async () => {
  await using running = startEmulator('--vms', '2', '--scenario', 'hardware-failure', '--speed', '600');
  const { url, vms } = await announcementOf(running);
  expect(vms).toEqual([
    { name: 'WestNO_0', url: `${url}/vm/WestNO_0` },
    { name: 'WestNO_1', url: `${url}/vm/WestNO_1` },
  ]);
  await running.until('every scenario is over');
  expect(running.output().stderr).toMatch(/"eventType":"Reboot","eventStatus":"Started"/);
  await until('a request is refused', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(vms[1]?.url + eventsPath())));
    return answers.some(({ status }) => status === 429);
  });
  running.child.kill('SIGTERM');
  expect(await running.ended()).toBe(0);
  expect(running.output().stdout.match(/\n/g)).toHaveLength(1);
});

it('plays a scenario again and again, and injects faults when they are due', async () => {
  await using running = startEmulator(
    ...[
      '--vm',
      'web1',
      '--vm',
      'web10',
      '--rate',
      '1000',
      '--scenario',
      'canceled',
      '--speed',
      '2000',
      '--repeat',
    ],
    ...['--fault', '503,retryAfter=9,after=100ms,vm=web10'],
  );
  const { url, vms } = await announcementOf(running);
  expect(vms.map(({ name }) => name)).toEqual(['web1', 'web10']);
  const answer = await until('the fault hits', async () => {
    const { status, headers } = await ask(vms[1]?.url + eventsPath());
    return status === 503 && headers;
  });
  expect(answer['retry-after']).toBe('9');
  await until('it is played a third time', async () => (await documentAt(url)).DocumentIncarnation > 5);
});

it('takes the port it is given, and says when it is taken', async () => {
  await using first = startEmulator();
  const { port } = new URL((await announcementOf(first)).url);
  const second = await runCommandLine(['emulate', 'imds', '--port', port]);
  expect(second).toMatchObject({ exitCode: 1, stdout: '', stderr: 'seb: listen failed: EADDRINUSE\n' });
});

it('lists the library', async () => {
  const { stdout, exitCode } = await runCommandLine(['emulate', 'imds', '--list']);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^live-migration\t\S.*$/m);
  const json = await runCommandLine(['emulate', 'imds', '--list', '-o', 'jsonl']);
  expect(JSON.parse(json.stdout.split('\n')[0] ?? '')).toEqual({
    name: expect.any(String),
    summary: expect.any(String),
  });
});

it.each([
  [['--scenario', 'nothing'], 'There is no such scenario'],
  [['--fault', 'nothing'], '--fault nothing: fault: Expected one of'],
  [['--vms', '0'], '--vms takes a number from 1 to 1000'],
  [['--vms', '2', '--vm', 'web1'], 'either --vms or --vm'],
  [['--vm', 'web1', '--vm', 'web1'], 'a name of its own'],
  [['--speed', 'fast'], '--speed takes a number'],
])('refuses %j as a mistake in the call', async (words, problem) => {
  const { exitCode, stderr, stdout } = await runCommandLine(['emulate', 'imds', ...words]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(problem);
});
