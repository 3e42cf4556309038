// `seb sink test`: sends one record that is marked as a test, and says in a sentence what came of it.
import { randomUUID } from 'node:crypto';
import { openImds } from '../agent/imds.ts';
import { nearest } from '../config/nearest.ts';
import type { Outcome } from '../core/delivery.ts';
import { type Observer, unknownObserver } from '../core/observer.ts';
import { agentRecord, encodeRecord } from '../core/record.ts';
import { loadSinkKinds, type SinkSettings } from '../sinks/index.ts';
import { openPassingMemory } from '../sinks/memory.ts';
import type { OutgoingRecord } from '../sinks/sink.ts';
import { version } from '../version.ts';
import { type CommandContext, defineCommand, UsageError } from './command.ts';
import { type Delivering, fileOption, loadDelivering } from './program.ts';
import { sinkAdvice } from './sink-advice.ts';
import { type Column, outputFormat, outputOptions, printRows } from './table.ts';

// The name of this VM is a courtesy to whoever reads the message; nobody should wait for it.
const introductionMs = 2_000;

export const sinkTest = defineCommand({
  name: 'sink test',
  summary: 'Sends a test record to one sink of an agent or a consumer, and says what came of it.',
  operands: 'NAME',
  options: { ...fileOption('agent'), ...outputOptions },
  examples: [
    { line: 'sink test ops -c agent.yaml', shows: 'a test message in the chat behind the sink "ops"' },
    { line: 'sink test oncall -c consumer.yaml', shows: 'the same for a sink of the consumer’s notices' },
    { line: 'sink test hook -o json', shows: 'the outcome and its reason, as JSON' },
  ],
  notes: [
    'The record is of type io.github.scheduled-events-bridge.agent.test.v1 and says that nothing is scheduled. It goes past the filter of the sink and past the outbox: a running agent takes no notice, and what waits in its queue stays there.',
    'Ends with 0 when the sink took it, with 1 when it did not, and with 2 when there is no such sink.',
  ],
  async run(context) {
    outputFormat(context);
    const settings = await loadDelivering(context);
    const result = await testSink(chosenSink(context, settings), settings, context.signal);
    await print(context, result);
    return result.outcome === 'delivered' ? 0 : 1;
  },
});

/** @throws UsageError when the file has no sink of that name */
function chosenSink({ operands }: CommandContext, { sinks }: Delivering): string {
  const name = operands[0] ?? '';
  const names = Object.keys(sinks);
  if (names.includes(name)) return name;
  const meant = nearest(name, names);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  const known = names.length === 0 ? 'it has no sinks' : `it has ${names.join(', ')}`;
  throw new UsageError(`the configuration has no sink "${name}": ${known}${hint}`);
}

interface TestResult {
  readonly sink: string;
  readonly type: string;
  readonly outcome: Outcome['status'];
  readonly reason: string | null;
  readonly detail: string;
  readonly durationMs: number;
}

async function testSink(name: string, settings: Delivering, signal: AbortSignal): Promise<TestResult> {
  const given = settings.sinks[name];
  if (given === undefined) throw new Error('the sink was chosen from the file');
  const memory = openPassingMemory();
  const kinds = await loadSinkKinds([given.type]);
  const open = kinds.open(name, given, { imdsEndpoint: settings.imdsEndpoint, version, memory });
  await using sink = open.sink;
  const observer = await observerWithin(introductionMs, settings, signal);
  const outgoing = testRecord(name, observer);
  const begunAt = performance.now();
  const outcome = await sink.send(outgoing, signal);
  const durationMs = Math.round(performance.now() - begunAt);
  const note = kinds.types.get(open.type)?.testNoteOf?.(given) ?? 'the sink took the test record';
  return { sink: name, type: open.type, durationMs, ...described(outcome, given, note) };
}

function described(
  outcome: Outcome,
  settings: SinkSettings,
  note: string,
): Pick<TestResult, 'outcome' | 'reason' | 'detail'> {
  if (outcome.status === 'delivered') {
    return { outcome: outcome.status, reason: null, detail: note };
  }
  return { outcome: outcome.status, reason: outcome.reason, detail: sinkAdvice(outcome.reason, settings) };
}

function testRecord(sink: string, observer: Observer): OutgoingRecord {
  const stamp = { observer, agent: { version, instanceId: randomUUID(), sequence: 0 } };
  const record = agentRecord('test', Date.now(), { test: true, sink }, stamp);
  return { record, bytes: encodeRecord(record) };
}

async function observerWithin(
  ms: number,
  { vmMetadata }: Delivering,
  signal: AbortSignal,
): Promise<Observer> {
  if (vmMetadata === null) return unknownObserver;
  using imds = openImds(vmMetadata);
  return await imds.observer(AbortSignal.any([signal, AbortSignal.timeout(ms)])).catch(() => unknownObserver);
}

/** For a person one sentence, which no table may cut short; for a program a row. */
async function print(context: CommandContext, result: TestResult): Promise<void> {
  if (outputFormat(context) !== 'table') return await printRows(context, columns, [result]);
  const { sink, type, outcome, reason, detail, durationMs } = result;
  const verdict =
    outcome === 'delivered' ? `delivered in ${durationMs} ms` : `not delivered (${reason ?? outcome})`;
  context.stdout.write(`${sink} (${type}): ${verdict}: ${detail}.\n`);
}

const columns: readonly Column<TestResult>[] = [
  { name: 'sink', value: ({ sink }) => sink },
  { name: 'type', value: ({ type }) => type },
  { name: 'outcome', value: ({ outcome }) => outcome },
  { name: 'reason', value: ({ reason }) => reason },
  { name: 'durationMs', value: ({ durationMs }) => durationMs },
  { name: 'detail', value: ({ detail }) => detail },
];
