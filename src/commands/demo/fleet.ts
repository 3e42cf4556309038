// The demo's agents: real ones, each with a VM, a state directory, a hub and a webhook of its own.
import { join } from 'node:path';
import { type AgentEnd, runAgent } from '../../agent/agent.ts';
import { agentSettingsFor } from '../../agent/settings.ts';
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { approvingSettings } from './approver.ts';

/** Where the agents find everything. */
export interface FleetPlaces {
  readonly directory: string;
  endpointOf(vmName: string): string;
  /** Whether instance metadata has told this VM's agent who it is. */
  readonly isKnown: (vmName: string) => boolean;
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
  /** Resolves when every agent knows its VM. */
  readonly ready: Promise<void>;
  /** Resolves when an agent ended by itself, with the reason; rejects when one broke. */
  readonly failed: Promise<string>;
}

// All at once they would be in each other's way, as a hundred programs that start on two cores are.
const startingMax = 10;

/** Starts one agent per VM, the first of which may approve; disposing ends them all, each after the attempt in hand. */
export function startFleet(
  vmNames: readonly string[],
  places: FleetPlaces,
  hear: (word: AgentWord) => void,
): Fleet {
  const stop = new AbortController();
  const failed = Promise.withResolvers<string>();
  // Whoever waits for it hears of it; after the end nobody does.
  failed.promise.catch(() => undefined);
  const ends: Promise<AgentEnd>[] = [];
  const start = (vm: string): void => {
    const log = logOf((level, message, fields) => hear({ vm, level, message, fields }));
    const runtime = { clock: systemClock, log, signal: stop.signal };
    const deeds = vm === vmNames[0] ? approvingSettings(places.directory) : {};
    const end = settingsOf(vm, places, deeds).then((settings) => runAgent(settings, runtime));
    ends.push(end);
    end.then((ended) => failed.resolve(reasonOf(ended)), failed.reject);
  };
  const startAll = async (): Promise<void> => {
    for (let first = 0; first < vmNames.length && !stop.signal.aborted; first += startingMax) {
      const group = vmNames.slice(first, first + startingMax);
      group.forEach(start);
      while (!stop.signal.aborted && !group.every(places.isKnown)) {
        await systemClock.sleep(knownIntervalMs, stop.signal);
      }
    }
  };
  const ready = startAll();
  return {
    ready,
    failed: failed.promise,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await ready;
      await Promise.allSettled(ends);
    },
  };
}

const knownIntervalMs = 20;

const reasonOf = (end: AgentEnd): string => (end.ok ? 'an agent stopped' : end.reason);

// Fast enough for the sped-up phases, and within what IMDS allows.
const pollInterval = '400ms';

async function settingsOf(vm: string, places: FleetPlaces, deeds: object) {
  const { connectionString, eventHubName, webhookUrl: url } = places;
  const written = {
    stateDir: join(places.directory, vm),
    imds: { endpoint: places.endpointOf(vm), pollInterval },
    sinks: {
      fleet: { type: 'eventhubs', connectionString, eventHubName },
      hook: { type: 'webhook', url, allowHttp: true },
    },
    ...deeds,
  };
  return (await agentSettingsFor(written)).parse(written);
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
