// What `seb check` tries for an agent: its directory, the metadata service and every sink.
import { openImds } from '../agent/imds.ts';
import type { AgentSettings } from '../agent/settings.ts';
import { unreadableSecrets } from '../config/secret.ts';
import { loadSinkKinds, type SinkSettings } from '../sinks/index.ts';
import { openPassingMemory } from '../sinks/memory.ts';
import { version } from '../version.ts';
import { approvalChecks } from './approval-checks.ts';
import { complaintOf } from './complaint.ts';
import { hookChecks } from './hook-checks.ts';
import { type Check, directoryCheck, statusChecks } from './reach.ts';
import { sinkAdvice } from './sink-advice.ts';

export function agentChecks(settings: AgentSettings): readonly Check[] {
  const sinks = Object.entries(settings.sinks).map(([name, sink]) =>
    sinkCheck(name, sink, settings.imds.endpoint),
  );
  const own = [directoryCheck('stateDir', settings.stateDir), ...statusChecks(settings.status)];
  return [...own, ...approvalChecks(settings), ...hookChecks(settings), imdsCheck(settings.imds), ...sinks];
}

const imdsCheck = (settings: AgentSettings['imds']): Check => ({
  name: 'imds',
  run: async (signal) => {
    using imds = openImds(settings);
    const poll = await imds.poll(settings.firstTimeout, signal);
    if (poll.status === 'document') {
      const { incarnation, events } = poll.document;
      const count = events.length === 1 ? '1 event' : `${events.length} events`;
      return { ok: true, detail: `document ${incarnation ?? 'without a number'}, ${count}` };
    }
    if (poll.status === 'empty') return { ok: true, detail: 'answers; Scheduled Events are waking up' };
    return { ok: false, detail: `${settings.endpoint} ${complaintOf(poll)}` };
  },
});

export const sinkCheck = (name: string, settings: SinkSettings, imdsEndpoint: string): Check => ({
  name: `sink ${name}`,
  run: async (signal) => {
    // Not every secret is needed to reach a sink, and each is needed to deliver to it.
    if (unreadableSecrets(settings).length > 0) {
      return { ok: false, detail: `${settings.type}: ${sinkAdvice('secret-unreadable', settings)}` };
    }
    const kinds = await loadSinkKinds([settings.type]);
    const { sink, type } = kinds.open(name, settings, {
      imdsEndpoint,
      version,
      memory: openPassingMemory(),
    });
    await using owned = sink;
    const result = await owned.check(signal);
    const advice = result.ok || result.reason === undefined ? '' : `; ${sinkAdvice(result.reason, settings)}`;
    return { ok: result.ok, detail: `${type}: ${result.detail}${advice}` };
  },
});
