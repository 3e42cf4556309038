// Azurite, Microsoft's emulator of blob storage, as a child of the run: everything stays in its memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** How it is reached; plain, so that it can travel to the tests. */
export interface AzuriteAddress {
  readonly connectionString: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    azurite: AzuriteAddress;
  }
}

export interface AzuriteServer extends AsyncDisposable {
  readonly address: AzuriteAddress;
  /** Of its process. */
  readonly pid: number;
}

const program = fileURLToPath(new URL('../node_modules/azurite/dist/src/blob/main.js', import.meta.url));

/** The account and the key that every Azurite has: https://learn.microsoft.com/azure/storage/common/storage-use-azurite. */
const account = 'devstoreaccount1';
const key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

const options = [
  ...['--blobHost', '127.0.0.1', '--blobPort', '0'],
  ...['--inMemoryPersistence', '--extentMemoryLimit', '1024'],
  // The SDK speaks newer versions than it knows; it must tell nobody of itself.
  ...['--silent', '--disableTelemetry', '--skipApiVersionCheck'],
];

/** Starts one on a free port of this machine. */
export async function startAzurite(): Promise<AzuriteServer> {
  if (!existsSync(program)) throw new Error('Azurite is missing here: run test/services/install first');
  const child = spawn(process.execPath, [program, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  // It stops when nobody reads what it says.
  const lines = createInterface({ input: child.stdout });
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const [said] = /http:\/\/127\.0\.0\.1:\d+$/.exec(line) ?? [];
      if (said !== undefined) resolve(said);
    });
    void ended.then(() => reject(new Error('Azurite ended before it listened')));
  });
  const endpoint = `DefaultEndpointsProtocol=http;BlobEndpoint=${url}/${account};`;
  return {
    pid: child.pid ?? 0,
    address: { connectionString: `${endpoint}AccountName=${account};AccountKey=${key};` },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
      lines.close();
    },
  };
}
