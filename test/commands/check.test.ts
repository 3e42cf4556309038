// Whether `seb check` reaches what a file names and says of each thing how it is.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { runCommandLine } from '../support/command-line.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const marker = 'MARKER-OF-A-SECRET';

async function checkOf(settings: object) {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'agent.yaml');
  writeFileSync(path, JSON.stringify({ stateDir: join(directory.path, 'state'), ...settings }));
  const run = await runCommandLine(['check', '-c', path, '-o', 'json']);
  const rows: { check: string; result: string; detail: string }[] =
    run.stdout === '' ? [] : JSON.parse(run.stdout);
  const results = Object.fromEntries(rows.map(({ check, result }) => [check, result]));
  return { ...run, rows, results, left: readdirSync(directory.path) };
}

it('says ok for every part that works, and leaves nothing behind', async () => {
  await using imds = await startImdsEmulator();
  const check = await checkOf({ imds: { endpoint: imds.url }, sinks: { console: { type: 'stdout' } } });
  expect(check).toMatchObject({ exitCode: 0, stderr: '', left: ['agent.yaml'] });
  expect(check.results).toEqual({ file: 'ok', stateDir: 'ok', imds: 'ok', 'sink console': 'ok' });
});

it('ends with 1 and says which part fails, without a secret', async () => {
  await using imds = await startImdsEmulator();
  const check = await checkOf({
    imds: { endpoint: imds.url },
    sinks: {
      console: { type: 'stdout' },
      hook: { type: 'webhook', url: `http://127.0.0.1:9/${marker}`, allowHttp: true },
    },
  });
  expect(check.exitCode).toBe(1);
  expect(check.results).toMatchObject({ imds: 'ok', 'sink console': 'ok', 'sink hook': 'failed' });
  expect(check.stdout + check.stderr).not.toContain(marker);
});

it('says what to look at when the metadata service refuses', async () => {
  await using imds = await startImdsEmulator();
  const check = await checkOf({ imds: { endpoint: `${imds.url}/nowhere` } });
  expect(check.exitCode).toBe(1);
  expect(check.rows.find((row) => row.check === 'imds')?.detail).toContain('is imds.endpoint right');
});

it('says when the state directory cannot be one', async () => {
  await using imds = await startImdsEmulator();
  const check = await checkOf({ imds: { endpoint: imds.url }, stateDir: `${process.execPath}/state` });
  expect(check).toMatchObject({ exitCode: 1, results: { stateDir: 'failed' } });
});

it('ends with 2 before it reaches for anything when the file is wrong', async () => {
  await using imds = await startImdsEmulator();
  const check = await checkOf({ imds: { endpoint: imds.url }, sinks: { x: { type: 'pager' } } });
  expect(check).toMatchObject({ exitCode: 2, stdout: '' });
  expect(check.stderr).toContain('sinks.x');
  expect(imds.requests).toEqual([]);
});
