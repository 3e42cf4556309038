// What a batch changes in the projections, one rule at a time; that order and grouping change nothing, the stores show.
import { expect, it } from 'vitest';
import { hashBody } from '../../src/core/leaf.ts';
import { type Known, nothingKnown, projectBatch } from '../../src/core/projection.ts';
import { readBatch } from '../../src/core/read-batch.ts';
import { agentRecord, type BridgeRecord, encodeRecord } from '../../src/core/record.ts';
import { freeze, observerOf, saying, synthesisAt } from '../support/synthetic.ts';

const [lower, upper] = ['ns/hub/0/20261110T000000000Z', 'ns/hub/1/20261110T000000000Z'];

interface Placed {
  readonly record: BridgeRecord;
  readonly stream?: string;
  readonly index: number;
}

function project(placed: readonly Placed[], known: Known = nothingKnown) {
  const entries = placed.map(({ record, stream = lower, index }) => {
    const body = encodeRecord(record);
    return { stream, index, body, bodySha256: hashBody(body) };
  });
  return projectBatch(readBatch(entries), known);
}

it('counts every copy of a record beyond the first, in one batch and in the next', () => {
  const record = saying({ kind: 'scheduled' });
  const first = project([0, 1, 2].map((index) => ({ record, index })));
  expect(first.observations).toMatchObject([{ index: 0, repeats: 2 }]);
  expect(first.counts).toMatchObject({ records: 1, repeats: 2, conflicts: 0 });
  const next = project([{ record, index: 3 }], { ...nothingKnown, observations: first.observations });
  expect(next.observations).toMatchObject([{ index: 0, repeats: 3 }]);
  expect(next.counts).toMatchObject({ records: 0, repeats: 1 });
});

it('takes the copy for the evidence whose stream sorts first, and there the one that came first', () => {
  const record = saying({ kind: 'scheduled' });
  const placed = [
    { record, stream: upper, index: 0 },
    { record, stream: lower, index: 7 },
    { record, stream: lower, index: 5 },
    { record, stream: upper, index: 1 },
  ];
  for (const each of [placed, placed.toReversed()]) {
    expect(project(each).observations).toMatchObject([{ stream: lower, index: 5, repeats: 3 }]);
  }
});

it('keeps every VM that any record of a batch names', () => {
  const naming = (resources: readonly string[], vm: number) =>
    saying({ kind: 'scheduled', vm, event: freeze(0, { resources }) });
  const { vms } = project([
    { record: naming(['web-0', 'web-1'], 0), index: 0 },
    { record: naming(['web-1', 'web-2'], 1), index: 1 },
  ]);
  expect([...vms.values()].map((names) => [...names].sort())).toEqual([['web-0', 'web-1', 'web-2']]);
});

it('knows an agent that has only spoken of itself', () => {
  const agent = { version: '1.0.0', instanceId: 'instance-7', sequence: 3 };
  const record = agentRecord('started', synthesisAt, {}, { observer: observerOf(7), agent });
  const { agents, events, witnesses } = project([{ record, index: 0 }]);
  expect([...agents.keys()]).toEqual(['instance-7']);
  expect([events.size, witnesses.length]).toEqual([0, 0]);
});
