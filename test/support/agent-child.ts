// An agent in a process of its own: state directory, endpoint and, as JSON, more settings are its arguments.
import { join } from 'node:path';
import { runAgent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/clock.ts';
import { openLog } from '../../src/log.ts';
import { agentSettings } from './sink-kinds.ts';

const [directory = '', endpoint = '', more = '{}'] = process.argv.slice(2);
const { sinks, imds, ...others } = JSON.parse(more) as { sinks?: object; imds?: object };
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
const settings = agentSettings.parse({
  stateDir: directory,
  imds: { endpoint, pollInterval: '250ms', ...imds },
  sinks: { local: { type: 'file', path: join(directory, 'events.jsonl') }, ...sinks },
  log: { level: 'warn' },
  ...others,
});
const log = openLog('agent', settings.log.level);
await runAgent(settings, { clock: systemClock, log, signal: stopping.signal });
