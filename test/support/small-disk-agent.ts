// An agent whose state directory is on a disk of a few MiB, which the parent fills and frees by lines on stdin.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runAgent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/clock.ts';
import { openLog } from '../../src/log.ts';
import { agentSettings } from './sink-kinds.ts';
import { obey } from './small-disk.ts';

const [disk = '', endpoint = '', url = ''] = process.argv.slice(2);
const stopping = new AbortController();
obey(disk, { stop: () => stopping.abort() });

mkdirSync(disk, { recursive: true });
const settings = agentSettings.parse({
  stateDir: join(disk, 'state'),
  imds: { endpoint, pollInterval: '250ms' },
  sinks: { hook: { type: 'webhook', url, allowHttp: true } },
});
await runAgent(settings, { clock: systemClock, log: openLog('agent', 'info'), signal: stopping.signal });
process.exit(0);
