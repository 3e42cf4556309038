// What `seb check` tries for a consumer: the hub, and the place of the trail.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { openSqliteReader } from '../audit/sqlite-reader.ts';
import { TrailUnusable } from '../audit/store.ts';
import { SecretUnreadable } from '../config/secret.ts';
import { hubConnector } from '../consumer/hub.ts';
import { hubAdviceOf } from '../consumer/hub-advice.ts';
import { hubFaultOf } from '../consumer/hub-fault.ts';
import type { ConsumerSettings } from '../consumer/settings.ts';
import type { CheckResult } from '../sinks/sink.ts';
import { type Check, directoryCheck, statusChecks } from './reach.ts';

export function consumerChecks(settings: ConsumerSettings): readonly Check[] {
  return [hubCheck(settings.hub), trailCheck(settings.trail.path), ...statusChecks(settings.status)];
}

const hubCheck = (settings: ConsumerSettings['hub']): Check => ({
  name: 'hub',
  run: async () => {
    try {
      await using hub = await hubConnector(settings)();
      const { namespace, name, partitions } = await hub.describe();
      return { ok: true, detail: `${name} on ${namespace}, ${partitions.length} partitions` };
    } catch (error) {
      const fault = hubFaultOf(error);
      // What cannot be read is named: the message of this error holds the place, and never the value.
      const named = error instanceof SecretUnreadable ? `; ${error.message}` : '';
      return { ok: false, detail: `${fault}; ${hubAdviceOf(fault)}${named}` };
    }
  },
});

/** A trail that is there must be one; where there is none yet, it must be possible to make it. */
const trailCheck = (path: string): Check => ({
  name: 'trail',
  run: (signal) => (existsSync(path) ? readable(path) : directoryCheck('trail', dirname(path)).run(signal)),
});

async function readable(path: string): Promise<CheckResult> {
  try {
    await using trail = openSqliteReader(path);
    const { events } = await trail.counts();
    return { ok: true, detail: `${path}, ${events} events` };
  } catch (error) {
    if (error instanceof TrailUnusable) return { ok: false, detail: error.message };
    throw error;
  }
}
