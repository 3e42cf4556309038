// One thing that `seb check` tries, and those that both programs have: a directory of their own, a status page.
import { once } from 'node:events';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { isLoopback, type ListenAddress, listenText } from '../config/listen.ts';
import type { CheckResult } from '../sinks/sink.ts';

/** One thing to try, and what it came to. It leaves nothing behind. */
export interface Check {
  readonly name: string;
  run(signal: AbortSignal): Promise<CheckResult>;
}

/** A directory that the program will make itself is fine when it may be made. */
export const directoryCheck = (name: string, path: string): Check => ({
  name,
  run: async () => {
    try {
      const place = nearestExisting(path);
      if (!statSync(place).isDirectory()) return { ok: false, detail: `${place} is not a directory` };
      accessSync(place, constants.W_OK | constants.X_OK);
      return { ok: true, detail: place === path ? path : `${path} (will be made)` };
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'cannot be used';
      // systemd gives the directory to the service and to nobody else.
      const advice = code === 'EACCES' ? '; this user may not write there: check as root, with sudo' : '';
      return { ok: false, detail: `${path}: ${code}${advice}` };
    }
  },
});

/** None without a status page. An address that is taken is fine: the program itself may be running. */
export function statusChecks(status: { readonly listen: ListenAddress } | undefined): readonly Check[] {
  if (status === undefined) return [];
  const { listen } = status;
  const address = listenText(listen);
  const openness = isLoopback(listen) ? '' : ', open to others';
  const run = async (): Promise<CheckResult> => {
    const fault = await listenFault(listen);
    if (fault === null) return { ok: true, detail: address + openness };
    if (fault === 'EADDRINUSE')
      return { ok: true, detail: `${address}, in use: by this program if it runs${openness}` };
    return { ok: false, detail: `${address} cannot be listened on (${fault})` };
  };
  return [{ name: 'status', run }];
}

/** @returns the system's word for why nobody can listen there; null when one can */
async function listenFault(listen: ListenAddress): Promise<string | null> {
  const server = createServer();
  try {
    server.listen({ ...listen, exclusive: true });
    await once(server, 'listening');
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error';
  } finally {
    server.close();
  }
}

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}
