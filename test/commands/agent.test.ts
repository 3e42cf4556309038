// Whether `seb agent`, as a process, starts only with a file, delivers, reopens and stops cleanly.
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { runNode, startNode } from '../support/process.ts';
import { recordsIn } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const fixture = (name: string) => readFileSync(new URL(`../fixtures/imds/${name}`, import.meta.url), 'utf8');

function agentFile(endpoint: string, more: object = {}) {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'agent.yaml');
  const events = join(directory.path, 'events.jsonl');
  const sinks = { local: { type: 'file', path: events } };
  const imds = { endpoint, pollInterval: '250ms' };
  writeFileSync(path, JSON.stringify({ stateDir: join(directory.path, 'state'), imds, sinks, ...more }));
  return { path, events, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

it('refuses to start without a file', async () => {
  const run = await runNode([cli, 'agent', '-c', '/nowhere/agent.yaml']);
  expect(run).toMatchObject({ exitCode: 2, stdout: '' });
  expect(run.stderr).toBe(
    'seb: /nowhere/agent.yaml cannot be used:\n  the file cannot be read (ENOENT); give its path with -c FILE\n',
  );
});

it('delivers what it sees, takes up a rotated file on SIGHUP, and ends with 0 on SIGTERM', async () => {
  await using imds = await startImdsEmulator();
  using file = agentFile(imds.url);
  await using running = startNode([cli, 'agent', '-c', file.path]);
  await until('the agent introduces itself', () => recordsIn(file.events).length > 0);
  renameSync(file.events, `${file.events}.1`);
  running.child.kill('SIGHUP');
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  await until('the event in the new file', () =>
    recordsIn(file.events).some(({ type }) => type.endsWith('event.scheduled.v1')),
  );
  running.child.kill('SIGTERM');
  expect(await running.ended()).toBe(0);
});

it('ends with 130 on SIGINT', async () => {
  await using imds = await startImdsEmulator();
  using file = agentFile(imds.url);
  await using running = startNode([cli, 'agent', '-c', file.path]);
  await running.until('the agent starts');
  running.child.kill('SIGINT');
  expect(await running.ended()).toBe(130);
});

it('ends with 1 and says so when another agent uses the same directory', async () => {
  await using imds = await startImdsEmulator();
  using file = agentFile(imds.url);
  await using first = startNode([cli, 'agent', '-c', file.path]);
  await first.until('the agent starts');
  const second = await runNode([cli, 'agent', '-c', file.path]);
  expect(second.exitCode).toBe(1);
  expect(second.stderr).toContain('another agent already uses');
});

it('warns of a secret that stands in the file, without saying it', async () => {
  await using imds = await startImdsEmulator();
  const marker = 'MARKER-OF-A-SECRET';
  using file = agentFile(imds.url, {
    sinks: { hook: { type: 'webhook', url: `https://127.0.0.1:9/${marker}` } },
  });
  await using running = startNode([cli, 'agent', '-c', file.path]);
  await running.until('sinks.hook.url');
  running.child.kill('SIGTERM');
  await running.ended();
  expect(running.output().stderr).not.toContain(marker);
});

it('warns of a secret in a file that every user may read', async () => {
  await using imds = await startImdsEmulator();
  using directory = temporaryDirectory();
  chmodSync(directory.path, 0o755);
  const secret = join(directory.path, 'hook.url');
  writeFileSync(secret, 'https://127.0.0.1:9/', { mode: 0o644 });
  using file = agentFile(imds.url, { sinks: { hook: { type: 'webhook', url: { file: secret } } } });
  await using running = startNode([cli, 'agent', '-c', file.path]);
  await running.until('every user of this machine may read the file');
  expect(running.output().stderr).toContain('"setting":"sinks.hook.url"');
});
