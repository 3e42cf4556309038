// What `seb check` tries for an agent: its directory, the metadata service and every sink.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { openImds } from '../agent/imds.ts';
import type { AgentSettings } from '../agent/settings.ts';
import { openSink, type SinkSettings } from '../sinks/index.ts';
import type { CheckResult } from '../sinks/sink.ts';
import { version } from '../version.ts';
import { complaintOf } from './complaint.ts';

/** One thing to try, and what it came to. It leaves nothing behind. */
export interface Check {
  readonly name: string;
  run(signal: AbortSignal): Promise<CheckResult>;
}

export function agentChecks(settings: AgentSettings): readonly Check[] {
  const sinks = Object.entries(settings.sinks).map(([name, sink]) =>
    sinkCheck(name, sink, settings.imds.endpoint),
  );
  return [directoryCheck('stateDir', settings.stateDir), imdsCheck(settings.imds), ...sinks];
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
      return { ok: false, detail: `${path}: ${(error as NodeJS.ErrnoException).code ?? 'cannot be used'}` };
    }
  },
});

function nearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestExisting(dirname(path));
}

const imdsCheck = (settings: AgentSettings['imds']): Check => ({
  name: 'imds',
  run: async (signal) => {
    using imds = openImds(settings);
    const poll = await imds.poll(settings.firstTimeout, signal);
    if (poll.status === 'document') {
      const { incarnation, events } = poll.document;
      return { ok: true, detail: `document ${incarnation ?? 'without a number'}, ${events.length} events` };
    }
    if (poll.status === 'empty') return { ok: true, detail: 'answers; Scheduled Events are waking up' };
    return { ok: false, detail: `${settings.endpoint} ${complaintOf(poll)}` };
  },
});

export const sinkCheck = (name: string, settings: SinkSettings, imdsEndpoint: string): Check => ({
  name: `sink ${name}`,
  run: async (signal) => {
    const { sink, type } = openSink(name, settings, { imdsEndpoint, version });
    await using owned = sink;
    const { ok, detail } = await owned.check(signal);
    return { ok, detail: `${type}: ${detail}` };
  },
});
