// Which records a sink takes: every row of the filter, and who speaks for a group of VMs.
import { describe, expect, test } from 'vitest';
import { type RecordFilter, takes } from '../../src/core/filter.ts';
import { observerFrom, unknownObserver } from '../../src/core/observer.ts';
import { agentRecord, type BridgeRecord } from '../../src/core/record.ts';
import { approvalOf, hookOf, impactOf } from '../support/deed-records.ts';
import { freeze, freezeStarted } from '../support/documents.ts';
import { lastRecord, type Step, stamp } from '../support/story.ts';

const all: RecordFilter = {
  observer: 'all',
  sample: 0.05,
  records: ['event', 'agent', 'approval', 'hook', 'impact'],
};
const heartbeat = agentRecord('heartbeat', 0, {}, stamp);

/** The record that a VM of this name makes of an event. */
const seenBy = (vmName: string, event = freeze, vmId = vmName): BridgeRecord => {
  const observer = observerFrom({ compute: { name: vmName, vmId } });
  return lastRecord([{ events: [event] }], { ...stamp, observer });
};

const about = (EventType: string, steps: readonly Step[] = []): BridgeRecord =>
  lastRecord([{ events: [{ ...freeze, EventType }] }, ...steps]);

const named = seenBy('WestNO_0');
const second = seenBy('WestNO_1');
const stranger = seenBy('WestNO_7');

describe('a filter', () => {
  test.each<[string, Partial<RecordFilter>, BridgeRecord, boolean]>([
    ['of everything', {}, stranger, true],
    ['of everything', {}, heartbeat, true],
    ['of the family event', { records: ['event'] }, named, true],
    ['of the family event', { records: ['event'] }, heartbeat, false],
    ['of the family agent', { records: ['agent'] }, heartbeat, true],
    ['of the family agent', { records: ['agent'] }, named, false],
    ['of no family', { records: [] }, named, false],
    ['of any family', {}, { ...named, type: 'com.example.event.v1' }, false],
    ['of a type', { types: ['Freeze'] }, named, true],
    ['of a type in another case', { types: ['Reboot', 'fREEZE'] }, named, true],
    ['of another type', { types: ['Reboot'] }, named, false],
    ['of a type', { types: ['Reboot'] }, heartbeat, true],
    ['of a type', { types: ['freeze'] }, approvalOf(), true],
    ['of another type', { types: ['Reboot'] }, approvalOf(), false],
    ['of a type', { types: ['Reboot'] }, hookOf(), true],
    ['of another type', { types: ['Freeze'] }, hookOf(), false],
    ['of another type', { types: ['Reboot'] }, impactOf(), false],
    ['of the families of deeds', { records: ['approval', 'hook', 'impact'] }, impactOf(), true],
    ['of the family event', { records: ['event'] }, hookOf(), false],
    ['of the first VM', { observer: 'first' }, hookOf({ event: { resources: ['a', 'WestNO_0'] } }), true],
    ['of the VMs named', { observer: 'affected' }, hookOf({ event: { resources: ['a'] } }), true],
    ['of a transition', { transitions: ['started'] }, approvalOf(), true],
    ['of ERROR', { minSeverity: 'ERROR' }, hookOf({ outcome: 'failed' }), true],
    ['of ERROR', { minSeverity: 'ERROR' }, approvalOf(), false],
    ['of a transition', { transitions: ['started', 'scheduled'] }, named, true],
    ['of another transition', { transitions: ['started'] }, named, false],
    ['of a transition', { transitions: ['started'] }, heartbeat, true],
    ['of INFO and more', { minSeverity: 'INFO' }, about('Freeze'), true],
    ['of WARN and more', { minSeverity: 'WARN' }, about('Freeze'), false],
    ['of WARN and more', { minSeverity: 'WARN' }, about('Reboot'), true],
    ['of WARN and more', { minSeverity: 'WARN' }, about('Terminate'), true],
    ['of WARN and more', { minSeverity: 'WARN' }, heartbeat, false],
    ['of ERROR', { minSeverity: 'ERROR' }, about('Reboot'), false],
    ['of ERROR', { minSeverity: 'ERROR' }, about('Terminate'), true],
    ['of ERROR', { minSeverity: 'ERROR' }, about('Terminate', [{ events: [] }]), false],
    [
      'of all that is asked at once',
      { types: ['Freeze'], transitions: ['scheduled'], observer: 'first' },
      named,
      true,
    ],
    [
      'of which one thing fails',
      { types: ['Freeze'], transitions: ['scheduled'], observer: 'first' },
      second,
      false,
    ],
  ])('%s: %o', (_what, part, record, taken) => {
    expect(takes({ ...all, ...part }, record)).toBe(taken);
  });
});

describe('the observer', () => {
  const empty = seenBy('WestNO_0', { ...freeze, Resources: [] });
  test.each<[RecordFilter['observer'], string, BridgeRecord, boolean]>([
    ['all', 'a VM that the event names', named, true],
    ['all', 'a VM that it does not name', stranger, true],
    ['affected', 'the first VM it names', named, true],
    ['affected', 'the second', second, true],
    ['affected', 'a VM that it does not name', stranger, false],
    ['affected', 'a VM whose name begins like one', seenBy('WestNO_'), false],
    ['affected', 'a VM named in another case and with an underscore', seenBy('_westno_1'), true],
    ['affected', 'a VM of an event that names none', empty, false],
    ['first', 'the first VM it names', named, true],
    ['first', 'the first in another case and with an underscore', seenBy('_westno_0'), true],
    ['first', 'the second', second, false],
    ['first', 'a VM that it does not name', stranger, false],
    ['first', 'a VM of an event that names none', empty, false],
    ['sampled', 'a VM that the event names', named, true],
    ['sampled', 'the second', second, true],
  ])('%s: %s', (observer, _who, record, taken) => {
    const sample = observer === 'sampled' ? 0 : 1;
    expect(takes({ ...all, observer, sample }, record)).toBe(taken);
  });

  test.each<RecordFilter['observer']>(['all', 'affected', 'first', 'sampled'])(
    '%s takes what a VM says that does not know its own name, and what an agent says of itself',
    (observer) => {
      const nameless = lastRecord([{ events: [freeze] }], { ...stamp, observer: unknownObserver });
      expect(takes({ ...all, observer, sample: 0 }, nameless)).toBe(true);
      expect(takes({ ...all, observer, sample: 0 }, heartbeat)).toBe(true);
    },
  );
});

describe('of a big group', () => {
  const witnesses = Array.from({ length: 2000 }, (_, index) => `witness-${index}`);
  const taken = (sample: number, event = freeze): string[] =>
    witnesses.filter((name) => takes({ ...all, observer: 'sampled', sample }, seenBy(name, event)));

  test.each([0.05, 0.5])('about the share that was asked for speaks: %d', (sample) => {
    const share = taken(sample).length / witnesses.length;
    expect(share).toBeGreaterThan(sample * 0.7);
    expect(share).toBeLessThan(sample * 1.3);
  });

  test('none speaks, or all do, when that was asked for', () => {
    expect(taken(0)).toEqual([]);
    expect(taken(1)).toEqual(witnesses);
  });

  test('the same VMs speak for the whole life of an event, and other VMs for another event', () => {
    const chosen = taken(0.05);
    expect(taken(0.05, freezeStarted)).toEqual(chosen);
    expect(taken(0.05, { ...freeze, EventId: 'another' })).not.toEqual(chosen);
  });

  test('a VM is chosen by its id, or by its name when that is all that is known', () => {
    const filter = { ...all, observer: 'sampled', sample: 0.5 } as const;
    const byId = witnesses.slice(0, 50).map((vmId) => takes(filter, seenBy('same-name', freeze, vmId)));
    const byName = witnesses.slice(0, 50).map((name) => takes(filter, seenBy(name, freeze, '')));
    expect(new Set(byId).size).toBe(2);
    expect(new Set(byName).size).toBe(2);
  });
});
