// The demo's agents: real ones, each with a VM, a state directory, a hub and a webhook of its own.
import { join } from 'node:path';
import { type AgentEnd, runAgent } from '../../agent/agent.ts';
import { agentSettings } from '../../agent/settings.ts';
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';

/** Where the agents find everything. */
export interface FleetPlaces {
  readonly directory: string;
  endpointOf(vmName: string): string;
  readonly connectionString: string;
  readonly eventHubName: string;
  readonly webhookUrl: string;
}

/** What an agent says about itself while it runs. */
export interface AgentWord {
  readonly vm: string;
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Fleet extends AsyncDisposable {
  /** Resolves when an agent ended by itself, with the reason; rejects when one broke. */
  readonly failed: Promise<string>;
}

/** Starts one agent per VM; disposing ends them all, each after the attempt in hand. */
export function startFleet(
  vmNames: readonly string[],
  places: FleetPlaces,
  hear: (word: AgentWord) => void,
): Fleet {
  const stop = new AbortController();
  const ends = vmNames.map((vm) => {
    const log = logOf((level, message, fields) => hear({ vm, level, message, fields }));
    return runAgent(settingsOf(vm, places), { clock: systemClock, log, signal: stop.signal });
  });
  const failed = Promise.race(ends.map(async (end) => reasonOf(await end)));
  // Whoever waits for it hears of it; after the end nobody does.
  failed.catch(() => undefined);
  return {
    failed,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.allSettled(ends);
    },
  };
}

const reasonOf = (end: AgentEnd): string => (end.ok ? 'an agent stopped' : end.reason);

// Fast enough for the sped-up phases, and within what IMDS allows.
const pollInterval = '400ms';

function settingsOf(vm: string, places: FleetPlaces) {
  const { connectionString, eventHubName, webhookUrl: url } = places;
  return agentSettings.parse({
    stateDir: join(places.directory, vm),
    imds: { endpoint: places.endpointOf(vm), pollInterval },
    sinks: {
      fleet: { type: 'eventhubs', connectionString, eventHubName },
      hook: { type: 'webhook', url, allowHttp: true },
    },
  });
}

type Hear = (level: AgentWord['level'], message: string, fields: AgentWord['fields']) => void;

/** A log that is heard instead of written. */
export function logOf(hear: Hear): Log {
  const at =
    (level: AgentWord['level']) =>
    (fields: object, message: string): void =>
      hear(level, message, fields as AgentWord['fields']);
  return {
    trace: () => undefined,
    debug: () => undefined,
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
}
