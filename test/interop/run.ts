// Lets two clients that share no code with ours talk to the emulator: `node test/interop/run.ts`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { issueCertificate } from '../support/certificate.ts';
import { keyOf } from '../support/raw-amqp.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Debian's own Python: only it sees Debian's packages. */
const python = '/usr/bin/python3';

/** Python's SDK takes no port: it goes where AMQP over TLS belongs. */
const AMQPS_PORT = 5_671;

const hubs = [{ name: 'interop', partitions: 4 }];

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(args: readonly string[]): Promise<Ended> {
  const child = spawn(python, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close').catch(() => [null]);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code: code as number | null, stdout, stderr };
}

const scriptOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const isInstalled = async (module: string): Promise<boolean> =>
  (await run(['-c', `import ${module}`])).code === 0;

const describe = ({ counters, events }: EventHubsEmulator): string =>
  `the emulator stored ${events().length} events and delivered ${counters.eventsDelivered} over ${counters.connectionsAccepted} connections`;

async function runAzure(): Promise<Ended & { readonly seen: string }> {
  using directory = temporaryDirectory();
  const tls = issueCertificate();
  const authority = join(directory.path, 'authority.pem');
  writeFileSync(authority, tls.cert);
  await using emulator = await startEventHubsEmulator({ hubs, tls, port: AMQPS_PORT });
  const connectionString = emulator.connectionString.replace(`localhost:${AMQPS_PORT}`, 'localhost/');
  const ended = await run([scriptOf('azure_client.py'), connectionString, 'interop', authority]);
  return { ...ended, seen: describe(emulator) };
}

async function runProton(): Promise<Ended & { readonly seen: string }> {
  await using emulator = await startEventHubsEmulator({ hubs });
  const { name, key } = keyOf(emulator);
  const url = `amqp://127.0.0.1:${emulator.port}`;
  const ended = await run([scriptOf('proton_client.py'), url, 'interop', name, key]);
  return { ...ended, seen: describe(emulator) };
}

const clients = [
  { module: 'azure.eventhub', packageName: 'python3-azure', run: runAzure },
  { module: 'proton', packageName: 'python3-qpid-proton', run: runProton },
];

for (const { module, packageName, run: runClient } of clients) {
  if (!(await isInstalled(module))) {
    console.log(`${packageName}: not installed, nothing was tried`);
    continue;
  }
  const { code, stdout, stderr, seen } = await runClient();
  console.log(`${packageName}: ${code === 0 ? 'passed' : `FAILED (${code})`}; ${seen}`);
  console.log(stdout.trimEnd());
  if (code !== 0) console.log(stderr.trimEnd());
  if (code !== 0) process.exitCode = 1;
}
