// What each agent counted: whatever the order and however often, the holes are the numbers that are not there.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AgentLedger } from '../../src/core/agent-ledger.ts';
import type { AgentFacts } from '../../src/core/read-record.ts';
import { observerOf } from '../support/synthetic.ts';

const saying = (sequence: number | null, vm = 1, agentId = `agent-${vm}`): AgentFacts => ({
  ...{ agentId, sequence, version: '1.0.0' },
  observer: observerOf(vm) as unknown as AgentFacts['observer'],
});

const holesOf = (ledger: AgentLedger) =>
  [...ledger.holes()].map(({ agentId, from, to }) => [agentId, from, to]);

test('holes are what lies between the numbers that came, in whatever order and however often they came', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 60 }), (numbers) => {
      const ledger = new AgentLedger();
      for (const number of numbers) ledger.take(saying(number), 0);
      const missing = [...ledger.holes()].flatMap(({ from, to }) =>
        Array.from({ length: to - from + 1 }, (_, place) => from + place),
      );
      const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
      const expected = Array.from(
        { length: Math.max(last - first + 1, 0) },
        (_, place) => first + place,
      ).filter((number) => !numbers.includes(number));
      expect(missing).toEqual(numbers.length === 0 ? [] : expected);
      expect(ledger.records).toBe(numbers.length);
    }),
  );
});

test('agents are counted apart, and a record without a number leaves no hole', () => {
  const ledger = new AgentLedger();
  for (const sequence of [1, 2, null, 5]) ledger.take(saying(sequence, 1), 0);
  for (const sequence of [1, 3]) ledger.take(saying(sequence, 2), 0);
  expect(ledger.agents).toBe(2);
  expect(holesOf(ledger)).toEqual([
    ['agent-1', 3, 4],
    ['agent-2', 2, 2],
  ]);
});

test('a hole is as old as the first that was stored of what comes behind it', () => {
  const ledger = new AgentLedger();
  ledger.take(saying(1), 10);
  ledger.take(saying(6), 40);
  ledger.take(saying(5), 20);
  ledger.take(saying(7), 50);
  expect([...ledger.holes()]).toMatchObject([{ from: 2, to: 4, at: 20, vmName: 'web-1' }]);
});

test('a VM for which two installations spoke is named once', () => {
  const ledger = new AgentLedger();
  ledger.take(saying(1, 1, 'old'), 0);
  ledger.take(saying(1, 1, 'new'), 0);
  ledger.take(saying(1, 2), 0);
  expect([...ledger.installedAnew()]).toEqual([{ vm: 'web-1', agents: 2 }]);
});
