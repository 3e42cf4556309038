// Runs a program in a network of its own that leads nowhere: there, the addresses that the bridge must not send to are
// addresses of the program itself, so that it can stand where they point to and see who comes.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './temporary-directory.ts';

export interface SealedNetwork {
  /** The addresses that this machine has there, beside loopback; IPv4 or IPv6. */
  readonly addresses: readonly string[];
  /** The lines of its `/etc/hosts`: an address and a name each. */
  readonly hosts: readonly (readonly [address: string, name: string])[];
}

/**
 * Runs a program there to its end. Its name service is 127.0.0.1, where it may listen on port 53 itself.
 * @returns what it printed, read as JSON
 * @throws when it fails, with its standard error
 */
export async function runInSealedNetwork(
  program: string,
  args: readonly string[],
  { addresses, hosts }: SealedNetwork,
): Promise<unknown> {
  using directory = temporaryDirectory();
  const files = { hosts: join(directory.path, 'hosts'), resolver: join(directory.path, 'resolv.conf') };
  writeFileSync(files.hosts, hosts.map((line) => `${line.join(' ')}\n`).join(''));
  writeFileSync(files.resolver, 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n');
  const script = [
    'ip link set lo up',
    ...addresses.map((address) => `ip addr add ${address} dev lo${address.includes(':') ? ' nodad' : ''}`),
    'mount --bind "$1" /etc/hosts',
    'mount --bind "$2" /etc/resolv.conf',
    'shift 2',
    'exec "$@"',
  ].join(' && ');
  const words = ['-rmn', 'sh', '-c', script, 'sh', files.hosts, files.resolver];
  return JSON.parse(await outputOf('unshare', [...words, process.execPath, program, ...args]));
}

function outputOf(command: string, args: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(command, args, { timeout: 60_000, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
    if (error === null) resolve(stdout);
    else reject(new Error(`${command} failed: ${stderr}`));
  });
  return promise;
}
