// An agent whose state directory is on a disk of a few MiB, which the parent fills and frees by lines on stdin.
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { runAgent } from '../../src/agent/agent.ts';
import { agentSettings } from '../../src/agent/settings.ts';
import { systemClock } from '../../src/clock.ts';
import { openLog } from '../../src/log.ts';

const [disk = '', endpoint = '', url = ''] = process.argv.slice(2);
const filler = join(disk, 'filler');

/** Takes every byte that is left. */
function fill(): void {
  const file = openSync(filler, 'a');
  for (const bytes of [64 * 1024, 512, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(bytes, 0x5a));
    } catch {
      // ENOSPC: the next smaller step takes the rest.
    }
  }
  closeSync(file);
}

const stopping = new AbortController();
const commands: Readonly<Record<string, () => void>> = {
  fill,
  free: () => rmSync(filler, { force: true }),
  stop: () => stopping.abort(),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  commands[line]?.();
  writeSync(1, `${line} ${statfsSync(disk).bavail}\n`);
});

mkdirSync(disk, { recursive: true });
const settings = agentSettings.parse({
  stateDir: join(disk, 'state'),
  imds: { endpoint, pollInterval: '250ms' },
  sinks: { hook: { type: 'webhook', url, allowHttp: true } },
});
await runAgent(settings, { clock: systemClock, log: openLog('agent', 'info'), signal: stopping.signal });
process.exit(0);
