// Whether `seb check` reaches what a file names and says of each thing how it is.
import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { newKey } from '../../src/audit/signing.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { runCommandLine } from '../support/command-line.ts';
import { openInbox } from '../support/inbox.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const marker = 'MARKER-OF-A-SECRET';

async function checkOf(settings: object, file = 'agent.yaml') {
  using directory = temporaryDirectory();
  const path = join(directory.path, file);
  const own =
    file === 'agent.yaml'
      ? { stateDir: join(directory.path, 'state') }
      : { trail: { path: join(directory.path, 'trail.db') } };
  writeFileSync(path, JSON.stringify({ ...own, ...settings }));
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

it('says of a sink that cannot be reached what to do about it', async () => {
  await using imds = await startImdsEmulator();
  const hook = { type: 'webhook', url: 'http://127.0.0.1:9/', allowHttp: true };
  const check = await checkOf({ imds: { endpoint: imds.url }, sinks: { hook } });
  const detail = check.rows.find((row) => row.check === 'sink hook')?.detail;
  expect(detail).toContain('check the host and the port');
});

it('says which secret of a sink that can be reached is not there', async () => {
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const secrets = [{ file: '/nowhere/hook.key' }];
  const hook = { type: 'webhook', url: inbox.url, allowHttp: true, secrets };
  const check = await checkOf({ imds: { endpoint: imds.url }, sinks: { hook } });
  expect(check.results).toMatchObject({ imds: 'ok', 'sink hook': 'failed' });
  const detail = check.rows.find((row) => row.check === 'sink hook')?.detail;
  expect(detail).toMatch(/: secrets\.0 \(file:\/nowhere\/hook\.key\)$/);
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

it('reaches the hub of a consumer, and says that its trail can be made', async () => {
  await using emulator = await startEventHubsEmulator();
  const { connectionString, eventHubName } = emulator;
  const check = await checkOf({ hub: { connectionString, eventHubName } }, 'consumer.yaml');
  expect(check).toMatchObject({ exitCode: 0, stderr: '', left: ['consumer.yaml'] });
  expect(check.results).toEqual({ file: 'ok', hub: 'ok', trail: 'ok' });
  expect(check.rows.find((row) => row.check === 'hub')?.detail).toContain('4 partitions');
});

it('says which hub a consumer cannot find, without its key', async () => {
  await using emulator = await startEventHubsEmulator();
  const connectionString = emulator.connectionString.replace(
    /SharedAccessKey=[^;]*/,
    `SharedAccessKey=${marker}`,
  );
  const check = await checkOf({ hub: { connectionString, eventHubName: 'nowhere' } }, 'consumer.yaml');
  expect(check).toMatchObject({ exitCode: 1, results: { hub: 'failed', trail: 'ok' } });
  expect(check.stdout + check.stderr).not.toContain(marker);
});

it('tries the key, each anchor and the place of the copy of a consumer, and leaves nothing behind', async () => {
  using directory = temporaryDirectory();
  await using emulator = await startEventHubsEmulator();
  await using inbox = await openInbox();
  const { connectionString, eventHubName } = emulator;
  const keyFile = join(directory.path, 'key');
  writeFileSync(keyFile, newKey('test.example/fleet').privateKey, { mode: 0o600 });
  const settings = {
    hub: { connectionString, eventHubName },
    signing: { keyFile },
    anchors: [
      { type: 'file', path: join(directory.path, 'elsewhere', 'seals.notes') },
      { type: 'webhook', url: `${inbox.url}/${marker}`, allowHttp: true },
      { type: 'webhook', url: 'http://127.0.0.1:9/', allowHttp: true },
      { type: 'blob', connectionString: marker, container: 'anchors' },
    ],
    archive: { type: 'folder', path: join(directory.path, 'copy') },
  };
  const check = await checkOf(settings, 'consumer.yaml');
  expect(check.results).toMatchObject({
    ...{ signing: 'ok', archive: 'ok', [`anchor file:${directory.path}/elsewhere/seals.notes`]: 'ok' },
    ...{ 'anchor webhook:plain': 'ok', 'anchor webhook:plain#2': 'failed' },
    'anchor blob:container anchors (plain)': 'failed',
  });
  expect(check.rows.find((row) => row.check === 'signing')?.detail).toMatch(
    /^verifiers need test\.example\/fleet\+[0-9a-f]{8}\+/,
  );
  expect(readdirSync(directory.path)).toEqual(['key']);
  expect(inbox.requests).toEqual([]);
  expect(check.stdout + check.stderr).not.toContain(marker);
  chmodSync(keyFile, 0o644);
  chmodSync(directory.path, 0o755);
  const open = await checkOf({ ...settings, anchors: [], archive: undefined }, 'consumer.yaml');
  expect(open.rows.find((row) => row.check === 'signing')).toMatchObject({
    result: 'failed',
    detail: expect.stringContaining('every user of this machine may read it'),
  });
});

it('does not take just any file for a trail', async () => {
  await using emulator = await startEventHubsEmulator();
  const { connectionString, eventHubName } = emulator;
  const trail = { path: fileURLToPath(import.meta.url) };
  const check = await checkOf({ hub: { connectionString, eventHubName }, trail }, 'consumer.yaml');
  expect(check).toMatchObject({ exitCode: 1, results: { hub: 'ok', trail: 'failed' } });
});

it('says where the status page will be, of a taken address that it may be our own, and of a wrong one that it is wrong', async () => {
  await using imds = await startImdsEmulator();
  await using inbox = await openInbox();
  const at = async (listen: string | number) => {
    const check = await checkOf({ imds: { endpoint: imds.url }, status: { listen } });
    return check.rows.find((row) => row.check === 'status');
  };
  expect(await at(0)).toEqual({ check: 'status', result: 'ok', detail: '127.0.0.1:0' });
  expect(await at('0.0.0.0:0')).toMatchObject({ result: 'ok', detail: '0.0.0.0:0, open to others' });
  const taken = `127.0.0.1:${inbox.port}, in use: by this program if it runs`;
  expect(await at(inbox.port)).toMatchObject({ result: 'ok', detail: taken });
  const elsewhere = '192.0.2.1:9464 cannot be listened on (EADDRNOTAVAIL)';
  expect(await at('192.0.2.1:9464')).toMatchObject({ result: 'failed', detail: elsewhere });
  await using hub = await startEventHubsEmulator();
  const { connectionString, eventHubName } = hub;
  const consumer = await checkOf(
    { hub: { connectionString, eventHubName }, status: { listen: 0 } },
    'consumer.yaml',
  );
  expect(consumer.results).toEqual({ file: 'ok', hub: 'ok', trail: 'ok', status: 'ok' });
});

it('tells root of a file that the packaged service could not read', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'agent.yaml');
  writeFileSync(path, JSON.stringify({ stateDir: directory.path, imds: { endpoint: 'http://127.0.0.1:9' } }));
  const detailWith = async (mode: number) => {
    chmodSync(path, mode);
    const { stdout } = await runCommandLine(['check', '-c', path]);
    return stdout.split('\n').find((line) => line.startsWith('file'));
  };
  const closed = '; not everybody may read it, so the packaged service may not: chmod 644';
  expect(await detailWith(0o640)).toBe(`file\tok\t${path}${process.getuid?.() === 0 ? closed : ''}`);
  expect(await detailWith(0o644)).toBe(`file\tok\t${path}`);
});
