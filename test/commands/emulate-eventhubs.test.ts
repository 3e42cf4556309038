// `seb emulate eventhubs` as a process: what it prints, what it takes and how it ends.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { issueCertificate } from '../support/certificate.ts';
import { runCommandLine } from '../support/command-line.ts';
import { type HubAddress, producerFor } from '../support/hub-clients.ts';
import { startNode } from '../support/process.ts';
import { projectRoot } from '../support/source-files.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const startEmulator = (...words: readonly string[]) =>
  startNode(['src/cli.ts', 'emulate', 'eventhubs', ...words], { cwd: projectRoot });

async function addressOf(running: ReturnType<typeof startNode>): Promise<HubAddress> {
  await running.until('}\n');
  return JSON.parse(running.output().stdout) as HubAddress;
}

it('prints one JSON line, serves the hub it was asked for and ends on SIGTERM', async () => {
  await using running = startEmulator('--hub', 'my-hub', '--partitions', '3', '--consumer-group', 'g');
  const address = await addressOf(running);
  expect(Object.keys(address)).toEqual(['connectionString', 'eventHubName']);
  expect(address.eventHubName).toBe('my-hub');
  expect(address.connectionString).toMatch(
    /^Endpoint=sb:\/\/127\.0\.0\.1:\d+;.*;UseDevelopmentEmulator=true$/,
  );
  await using producer = producerFor(address);
  await producer.client.sendBatch([{ body: 1 }], { partitionId: '2' });
  expect(await producer.client.getPartitionIds()).toEqual(['0', '1', '2']);
  running.child.kill('SIGTERM');
  expect(await running.ended()).toBe(0);
  expect(running.output().stdout.match(/\n/g)).toHaveLength(1);
  expect(running.output().stderr).toBe('');
});

it('injects the faults it was asked for', async () => {
  await using running = startEmulator(
    '--fault',
    'server-busy,times=1',
    '--fault',
    'internal-error,after=1ms',
  );
  await using producer = producerFor(await addressOf(running), { maxRetries: 0 });
  const codes: unknown[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const sent = producer.client.sendBatch([{ body: 1 }]);
    codes.push(
      await sent.then(
        () => 'sent',
        (error: unknown) => (error as { code?: string }).code,
      ),
    );
  }
  expect(codes).toEqual(['ServerBusyError', 'InternalServerError', 'sent']);
});

it('leaves out the emulator flag when it speaks TLS', async () => {
  using directory = temporaryDirectory();
  const [key, cert] = [join(directory.path, 'key.pem'), join(directory.path, 'cert.pem')];
  const certificate = issueCertificate();
  writeFileSync(key, certificate.key);
  writeFileSync(cert, certificate.cert);
  await using running = startEmulator(
    '--tls-key',
    key,
    '--tls-cert',
    cert,
    '--websockets',
    '--accept-any-jwt',
  );
  const { connectionString } = await addressOf(running);
  expect(connectionString).toMatch(/^Endpoint=sb:\/\/localhost:\d+;/);
  expect(connectionString).not.toContain('UseDevelopmentEmulator');
});

it.each([
  [['--port', '99999'], '--port takes a number from 0 to 65535'],
  [['--partitions', '0'], '--partitions takes a number from 1 to 1024'],
  [['--hub', 'a b'], '"a b" cannot be the name of a hub'],
  [['--fault', 'explode'], '--fault explode: fault: Expected one of drop-before-store'],
  [['--tls-key', 'key.pem'], '--tls-key and --tls-cert go together'],
  [['--tls-key', '/nowhere', '--tls-cert', '/nowhere'], '/nowhere cannot be read: ENOENT'],
  [['--store', '/dev/null/store'], 'open failed: ENOTDIR'],
])('refuses %j with a sentence', async (words, sentence) => {
  const { exitCode, stdout, stderr } = await runCommandLine(['emulate', 'eventhubs', ...words]);
  expect({ exitCode, stdout }).toEqual({ exitCode: words[0] === '--store' ? 1 : 2, stdout: '' });
  expect(stderr).toContain(sentence);
});

it('says in its help what it does not do, and names every fault', async () => {
  const { faultPoints } = await import('../../src/emulators/eventhubs/faults.ts');
  const { stdout } = await runCommandLine(['emulate', 'eventhubs', '--help']);
  const text = stdout.replace(/\s+/g, ' ');
  expect(text).toContain('What it does not do: it is not the service');
  for (const name of Object.keys(faultPoints)) expect(text).toContain(name);
});

it('costs nobody else anything: the AMQP library is loaded when the emulator starts', async () => {
  const script = `await import('./src/commands/emulate-eventhubs.ts');
    const loaded = Object.keys(process.getBuiltinModule('node:module')._cache);
    console.log(loaded.some((path) => path.includes('rhea')));`;
  await using running = startNode(['--input-type=module', '-e', script], { cwd: projectRoot });
  expect(await running.ended()).toBe(0);
  expect(running.output().stdout).toBe('false\n');
});
