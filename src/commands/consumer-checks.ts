// What `seb check` tries for a consumer: the hub, the place of the trail, and where notices go.
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { openTrailReader } from '../audit/open.ts';
import { TrailUnusable } from '../audit/store.ts';
import { ownHubSentence, sinksOfOwnHub } from '../config/own-hub.ts';
import { SecretUnreadable } from '../config/secret.ts';
import { hubConnector } from '../consumer/hub.ts';
import { hubAdviceOf } from '../consumer/hub-advice.ts';
import { hubFaultOf } from '../consumer/hub-fault.ts';
import { ownershipAdviceOf } from '../consumer/ownership-advice.ts';
import type { ConsumerSettings } from '../consumer/settings.ts';
import type { CheckResult } from '../sinks/sink.ts';
import { sinkCheck } from './agent-checks.ts';
import { keepingChecks } from './keeping-checks.ts';
import { type Check, directoryCheck, statusChecks } from './reach.ts';

export async function consumerChecks(settings: ConsumerSettings): Promise<readonly Check[]> {
  return [
    hubCheck(settings.hub),
    ...checkpointChecks(settings.checkpoints),
    trailCheck(settings.trail),
    ...(await keepingChecks(settings)),
    ...noticeChecks(settings),
    ...statusChecks(settings.status),
  ];
}

/** None for a consumer that sends no notices. */
function noticeChecks({ hub, notify }: ConsumerSettings): readonly Check[] {
  if (notify === undefined) return [];
  const { stateDir, sinks, imds } = notify;
  const refused = sinksOfOwnHub(hub, sinks);
  const each = Object.entries(sinks).map(([name, sink]) =>
    refused.includes(name) ? refusedCheck(name) : sinkCheck(name, sink, imds.endpoint),
  );
  return [directoryCheck('notify.stateDir', stateDir), ...each];
}

const refusedCheck = (name: string): Check => ({
  name: `sink ${name}`,
  run: async () => ({ ok: false, detail: `eventhubs: ${ownHubSentence}` }),
});

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

/** None for the only consumer of a hub. The container must be there: one that is made by mistake is shared with nobody. */
function checkpointChecks(settings: ConsumerSettings['checkpoints']): readonly Check[] {
  if (settings.type === 'trail') return [];
  const run = async (signal: AbortSignal): Promise<CheckResult> => {
    const { checkOwnership } = await import('../consumer/ownership-blobs.ts');
    const { place, fault } = await checkOwnership(settings, signal);
    if (fault === null) return { ok: true, detail: place };
    return { ok: false, detail: `${place}: ${fault}; ${ownershipAdviceOf(fault)}` };
  };
  return [{ name: 'checkpoints', run }];
}

/** A trail that is there must be one; where there is none yet, it must be possible to make it. */
const trailCheck = (settings: ConsumerSettings['trail']): Check => ({
  name: 'trail',
  run: (signal) => {
    if (settings.type === 'postgres') return rightsIn(settings);
    const isMissing = !existsSync(settings.path);
    return isMissing ? directoryCheck('trail', dirname(settings.path)).run(signal) : readable(settings);
  },
});

type TrailSettings = ConsumerSettings['trail'];

const readable = (settings: Extract<TrailSettings, { type: 'sqlite' }>): Promise<CheckResult> =>
  unlessUnusable(async () => {
    await using trail = await openTrailReader(settings);
    const { events } = await trail.counts();
    return { ok: true, detail: `${settings.path}, ${events} events` };
  });

const rightsIn = (settings: Extract<TrailSettings, { type: 'postgres' }>): Promise<CheckResult> =>
  unlessUnusable(async () => (await import('../audit/postgres/rights.ts')).readRights(settings));

async function unlessUnusable(check: () => Promise<CheckResult>): Promise<CheckResult> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof TrailUnusable || error instanceof SecretUnreadable) {
      return { ok: false, detail: error.message };
    }
    throw error;
  }
}
