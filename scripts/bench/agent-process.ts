// What an agent costs that has nothing to do: memory, processor time and the time to its first poll, as whole processes.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { type ImdsEmulator, startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { until } from '../../test/support/until.ts';
import { bundle } from '../build.ts';
import { pathsOf, planOf } from '../package/artefacts.ts';
import { buildExecutable } from '../package/executable.ts';
import { type MeasuredProcess, startMeasured } from './measured-process.ts';
import { type BenchOptions, type BenchResult, quantile } from './result.ts';

const fileAt = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const barePoller = fileAt('./bare-poller.cjs');
const requestsLoop = fileAt('./requests_loop.py');
const source = fileAt('../../src/cli.ts');

/** A program to measure: its command line, for a metadata service of its own. */
interface Contestant {
  readonly name: string;
  commandFor(endpoint: string): readonly [command: string, ...args: string[]];
}

export async function run({ quick, idleSeconds }: BenchOptions): Promise<readonly BenchResult[]> {
  if (process.platform !== 'linux') return [];
  const directory = mkdtempSync(join(tmpdir(), 'seb-bench-'));
  try {
    await bundle(join(directory, 'dist'));
    const plan = planOf({ outDirectory: directory });
    const { executable } = pathsOf(plan);
    await buildExecutable(process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64', executable, plan);
    await using hub = await startEventHubsEmulator();
    const { connectionString, eventHubName } = hub;
    const fleet = { type: 'eventhubs', connectionString, eventHubName };
    const contestants = [...bare(), ...agents(directory, { fleet, executable })];
    const idle = await idleFigures(contestants, idleSeconds ?? (quick ? 10 : 60));
    return [...idle, ...(await firstPolls(contestants, quick ? 3 : 15))];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function bare(): readonly Contestant[] {
  const poller = {
    name: 'bare node:http poller',
    commandFor: (at: string) => [process.execPath, barePoller, at] as const,
  };
  const hasRequests = spawnSync('python3', ['-c', 'import requests']).status === 0;
  const python = {
    name: 'Python requests loop',
    commandFor: (at: string) => ['python3', requestsLoop, at] as const,
  };
  return hasRequests ? [poller, python] : [poller];
}

function agents(
  directory: string,
  { fleet, executable }: { readonly fleet: object; readonly executable: string },
): readonly Contestant[] {
  const hook = { type: 'webhook', url: 'https://127.0.0.1:9/' };
  const bundled = [process.execPath, join(directory, 'dist', 'seb.cjs')] as const;
  const agent = (name: string, program: readonly [string, ...string[]], settings: object): Contestant => ({
    name,
    commandFor: (endpoint) => {
      const file = join(directory, `${name}.json`);
      const stateDir = mkdtempSync(join(directory, 'state-'));
      const usual = { stateDir, imds: { endpoint }, log: { level: 'silent' } };
      writeFileSync(file, JSON.stringify({ ...usual, ...settings }));
      return [...program, 'agent', '-c', file];
    },
  });
  return [
    agent('executable, Event Hubs', [executable], { sinks: { fleet } }),
    agent('executable, Event Hubs and a webhook', [executable], { sinks: { fleet, hook } }),
    agent('bundle, a webhook', bundled, { sinks: { hook } }),
    agent('bundle, a webhook and a status page', bundled, { sinks: { hook }, status: { listen: 0 } }),
    agent('bundle, Event Hubs and a webhook', bundled, { sinks: { fleet, hook } }),
    agent('agent from source', [process.execPath, source], { sinks: { fleet, hook } }),
  ];
}

/** All of them at the same time, so that all of them meet the same machine. */
async function idleFigures(contestants: readonly Contestant[], seconds: number): Promise<BenchResult[]> {
  await using resources = new AsyncDisposableStack();
  const running: [string, MeasuredProcess][] = [];
  for (const { name, commandFor } of contestants) {
    const imds = resources.use(await startImdsEmulator());
    const [command, ...args] = commandFor(imds.url);
    running.push([name, resources.use(startMeasured(command, args))]);
  }
  // The first seconds are loading, not idling.
  const loading = seconds / 4;
  await delay(loading * 1000);
  const before = running.map(([, each]) => each.cpuSeconds());
  await delay((seconds - loading) * 1000);
  const hourly = (used: number): number => (used / (seconds - loading)) * 3600;
  const memory = running.map(([name, each]) =>
    figure(`${name}: memory after ${seconds} s`, each.residentMb(), 'MB'),
  );
  const time = running.map(([name, each], at) =>
    figure(`${name}: processor time`, hourly(each.cpuSeconds() - (before[at] ?? 0)), 's/h'),
  );
  return [...besideFirst(memory), ...besideFirst(time)];
}

/** From the start of the process until its first request arrives; taken in turns. */
async function firstPolls(contestants: readonly Contestant[], rounds: number): Promise<BenchResult[]> {
  const times = new Map(contestants.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    for (const contestant of contestants) {
      await using imds = await startImdsEmulator();
      times.get(contestant.name)?.push(await timeToPoll(contestant, imds));
    }
  }
  const medians = [...times].map(([name, all]) =>
    figure(`${name}: first poll, median`, quantile(all, 0.5), 'ms'),
  );
  return besideFirst(medians);
}

async function timeToPoll({ commandFor }: Contestant, imds: ImdsEmulator): Promise<number> {
  const [command, ...args] = commandFor(imds.url);
  const startedAt = Date.now();
  await using _running = startMeasured(command, args);
  const isPoll = ({ path }: { readonly path: string }) => path.includes('/scheduledevents');
  const poll = await until('the first poll', () => imds.requests.find(isPoll), 60_000);
  return poll.at - startedAt;
}

const figure = (name: string, value: number, unit: string): BenchResult => ({ name, value, unit });

function besideFirst(results: readonly BenchResult[]): BenchResult[] {
  const [first, ...others] = results;
  if (first === undefined) return [];
  const baseline = { name: 'bare poller', value: first.value };
  return [first, ...others.map((result) => ({ ...result, baseline }))];
}
