// The whole agent inside the test's process, watching an endpoint of the test's choice.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentControls, type AgentEnd, type AgentRuntime, runAgent } from '../../src/agent/agent.ts';
import { systemClock } from '../../src/clock.ts';
import type { BridgeRecord, EventData } from '../../src/core/record.ts';
import { type RecordingLog, recordingLog } from './recording-log.ts';
import { agentSettings } from './sink-kinds.ts';
import { until } from './until.ts';

export interface RunningAgent extends AsyncDisposable {
  readonly log: RecordingLog;
  /** What the agent wrote to its sink `local`, in order. */
  records(): readonly BridgeRecord[];
  /** Of these, the ones about events. */
  eventRecords(): readonly BridgeRecord<EventData>[];
  /** Where its status page is, such as `http://127.0.0.1:43121`, once it is served. */
  statusUrl(): Promise<string>;
  /** What may be asked of it, once it runs. */
  controls(): Promise<AgentControls>;
  /** Stops it as SIGTERM does. */
  stop(): Promise<AgentEnd>;
}

/**
 * Starts an agent with a file sink `local` and what `more` adds.
 * @param directory its state directory
 * @param runtime what it takes from the test instead of from the machine
 */
export function startAgent(
  directory: string,
  endpoint: string,
  more: object = {},
  runtime: Partial<Pick<AgentRuntime, 'clock' | 'cause' | 'service' | 'boot'>> = {},
): RunningAgent {
  const path = join(directory, 'events.jsonl');
  const { sinks, imds, ...others } = more as { sinks?: object; imds?: object };
  const settings = agentSettings.parse({
    stateDir: directory,
    imds: { endpoint, pollInterval: '250ms', ...imds },
    sinks: { local: { type: 'file', path }, ...sinks },
    ...others,
  });
  const log = recordingLog();
  const stopping = new AbortController();
  let controls: AgentControls | null = null;
  const control = (given: AgentControls): void => {
    controls = given;
  };
  const end = runAgent(settings, { clock: systemClock, log, signal: stopping.signal, control, ...runtime });
  // A failure is reported when the agent is stopped, not as an unhandled rejection before.
  end.catch(() => undefined);
  const stop = (): Promise<AgentEnd> => {
    stopping.abort();
    return end;
  };
  return {
    log,
    records: () => recordsIn(path),
    eventRecords: () => eventsAmong(recordsIn(path)),
    statusUrl: async () => {
      const served = () => log.lines.find(({ message }) => message === 'the status is served');
      return `http://${(await until('the status', served)).fields['address']}`;
    },
    controls: () => until('the controls', () => controls),
    stop,
    [Symbol.asyncDispose]: async () => {
      await stop();
    },
  };
}

/** The records of a file sink's file; none when there is no file yet. */
export function recordsIn(path: string): BridgeRecord[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return [];
  }
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as BridgeRecord);
}

/** Those about events. */
export const eventsAmong = (records: readonly BridgeRecord[]): BridgeRecord<EventData>[] =>
  records.filter((record) => record.type.includes('.event.')) as BridgeRecord<EventData>[];
