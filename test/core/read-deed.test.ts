// The readers of what agents did and of what they say of themselves: whatever comes, they give an answer.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDeed } from '../../src/core/read-deed.ts';
import { readRecord } from '../../src/core/read-record.ts';
import { readSelf } from '../../src/core/read-self.ts';
import { type BridgeRecord, encodeRecord } from '../../src/core/record.ts';
import { eventIdOf, synthesisAt } from '../support/synthetic.ts';
import { approving, beating, feeling, hooking } from '../support/synthetic-deeds.ts';

function deedIn(record: BridgeRecord) {
  const reading = readRecord(encodeRecord(record));
  return reading.status === 'record' ? reading.record.deed : reading.reason;
}

const eventId = eventIdOf(0).toLowerCase();

test('an approval gives who decided what, by which rule, and what IMDS answered', () => {
  expect(deedIn(approving())).toEqual({
    eventId,
    deed: {
      ...{ family: 'approval', decision: 'approved', reason: 'rule', actorKind: 'agent', actorName: null },
      ...{ rule: 1, elected: 'first', answerStatus: 200, attempts: 1 },
    },
  });
});

test('a hook gives its phase, its program and how it ended, and not what it wrote', () => {
  expect(deedIn(hooking({ outcome: 'failed', exitCode: 3 }))).toEqual({
    eventId,
    deed: {
      ...{ family: 'hook', phase: 'prepare', hook: '/usr/local/bin/drain', outcome: 'failed' },
      ...{ reason: null, exitCode: 3, signal: null, startedAt: synthesisAt, durationMs: 1_200 },
    },
  });
});

test('an impact gives its bounds, its window and whether the VM was moved', () => {
  expect(deedIn(feeling())).toEqual({
    eventId,
    deed: {
      ...{ family: 'impact', kind: 'pause', lowerMs: 6_000, upperMs: 7_000, pauses: 0 },
      ...{ from: synthesisAt + 900_000, to: synthesisAt + 960_000, temporaryDisk: 'kept' },
      ...{ faultDomainBefore: '0', faultDomainAfter: '0' },
    },
  });
});

test('a deed without an event, or without a word of what was done, is a record that tells no deed', () => {
  const without = (record: BridgeRecord, change: object) => ({
    ...record,
    data: { ...(record.data as object), ...change },
  });
  expect(deedIn(without(approving(), { event: null }))).toBeNull();
  expect(deedIn(without(approving(), { decision: 7 }))).toBeNull();
  expect(deedIn(without(hooking(), { hook: '' }))).toBeNull();
  expect(deedIn(without(feeling(), { kind: null }))).toBeNull();
  expect(deedIn(beating())).toBeNull();
});

test('what is endless is cut off, so that no row of the trail is', () => {
  const endless = 'x'.repeat(100_000);
  const event = { ...(approving().data as { event: object }) }.event;
  for (const family of ['approval', 'hook', 'impact']) {
    const data = {
      event,
      decision: endless,
      phase: endless,
      hook: endless,
      outcome: endless,
      kind: endless,
      reason: endless,
    };
    expect(JSON.stringify(readDeed(family, data)).length).toBeLessThan(3_000);
  }
  const seen = Array.from({ length: 10_000 }, () => ({ eventId: endless, eventStatus: endless }));
  expect(JSON.stringify(readSelf({ bootId: endless, document: { seen } })).length).toBeLessThan(100_000);
});

test('no JSON whatsoever makes the readers throw', () => {
  const fields = [
    'event',
    'actor',
    'answer',
    'rule',
    'decision',
    'phase',
    'hook',
    'outcome',
    'kind',
    'measured',
    'window',
    'moved',
    'pauses',
    'source',
    'document',
    'bootId',
  ];
  const whole = {
    ...(approving().data as object),
    ...(hooking().data as object),
    ...(feeling().data as object),
  };
  return fc.assert(
    fc.property(
      fc.constantFrom(...fields),
      fc.jsonValue(),
      fc.constantFrom('approval', 'hook', 'impact', 'constructor'),
      (field, value, family) => {
        const data = { ...whole, [field]: value };
        expect([
          readDeed(family, data),
          readSelf(data),
          readDeed(family, value),
          readSelf(value),
        ]).toHaveLength(4);
      },
    ),
    { numRuns: 500 },
  );
});
