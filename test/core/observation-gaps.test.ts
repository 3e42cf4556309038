// Who should have seen an event and did not, and why, as far as it can be told.
import { describe, expect, it } from 'vitest';
import type { Observer } from '../../src/core/observer.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import type { Timeline } from '../../src/core/timeline.ts';
import { freeze, liveMigration, observerOf, saying, vmIdOf } from '../support/synthetic.ts';
import { beating } from '../support/synthetic-deeds.ts';
import { timelineAfter } from '../support/timelines.ts';

const minute = 60_000;
const hour = 60 * minute;

/** `web-3 silent`, … */
const missing = ({ agentsMissing }: Timeline): string[] =>
  (agentsMissing.value ?? []).map(({ vmName, agentId, reason }) => `${vmName ?? agentId} ${reason}`);

/** A heartbeat of another VM of the set. */
const beat = (vm: number, after: number, data = {}, sequence = 1): BridgeRecord =>
  beating(data, { vm, after, sequence });

// Seen from minute 0 to minute 16 by the two VMs that it names.
const seen = [...liveMigration(0, 0), ...liveMigration(0, 1)];

describe('why a VM of the set did not see it', () => {
  const failing = { source: { state: 'failing', lastDocumentAt: null } };
  const stale = { source: { state: 'fresh', lastDocumentAt: '2026-11-10T20:00:00.000Z' } };
  const rows: readonly (readonly [string, string[], readonly BridgeRecord[], number?])[] = [
    ['nothing: all of them saw it', [], [...seen, ...liveMigration(0, 2)]],
    ['nothing: it was gone from the fleet a day before', [], [...seen, beat(2, -25 * hour)]],
    [
      'nothing: it was last heard of more than a day before the end',
      [],
      [...seen, beat(2, -24 * hour + 5 * minute)],
    ],
    [
      'not its source, when only a word long before says so',
      ['web-2 unknown'],
      [
        ...seen,
        beat(2, -3 * hour, failing),
        saying({ kind: 'scheduled', vm: 2, event: freeze(1), after: -minute, sequence: 2 }),
      ],
    ],
    [
      'silent, when nothing came since its heartbeat was due',
      ['web-2 silent'],
      [...seen, beat(2, -2 * hour)],
    ],
    [
      'silent, when it spoke again only after the event',
      ['web-2 silent'],
      [...seen, beat(2, -2 * hour), beat(2, 30 * minute, {}, 2)],
      40 * minute,
    ],
    ['not silent before its heartbeat is due', ['web-2 unknown'], [...seen, beat(2, -10 * minute)]],
    [
      'silent by the interval that it told itself',
      ['web-2 silent'],
      [...seen, beat(2, -10 * minute, { heartbeatIntervalMs: 5 * minute })],
    ],
    [
      'its source, when IMDS did not answer it',
      ['web-2 source-failing'],
      [...seen, beat(2, minute, failing, 2), beat(2, -minute)],
    ],
    [
      'its source, when its last document was old',
      ['web-2 source-failing'],
      [...seen, beat(2, minute, stale, 2), beat(2, -minute)],
    ],
    [
      'not its source, when that failed long after',
      ['web-2 unknown'],
      [
        ...seen,
        beat(2, -minute),
        beat(2, 40 * minute, { source: { state: 'failing', lastDocumentAt: '2026-11-10T22:39:00.000Z' } }, 2),
      ],
      45 * minute,
    ],
    ['that it came later', ['web-2 joined-later'], [...seen, beat(2, 2 * minute)]],
    ['nothing, when it came after the end', [], [...seen, beat(2, 17 * minute)]],
    [
      'that the event was over within two polls',
      ['web-2 late'],
      [
        saying({ kind: 'started', event: freeze(0, { eventStatus: 'Started' }) }),
        saying({ kind: 'completed', event: freeze(0, { eventStatus: 'Started' }), after: 1_500 }),
        ...[beat(1, -minute), beat(2, -minute)],
      ].concat(saying({ kind: 'started', event: freeze(0, { eventStatus: 'Started' }), vm: 1 })),
    ],
    [
      'that it is seen for a minute only',
      ['web-2 late'],
      [...seen.filter(({ id }) => id.includes('_scheduled_')), beat(2, -minute)],
      minute,
    ],
    [
      'nothing, when its heartbeat lists the event although its record never came',
      [],
      [
        ...seen,
        beat(2, -minute),
        beat(2, minute, { document: { seen: [{ eventId: freeze().eventId, eventStatus: 'Scheduled' }] } }, 2),
      ],
    ],
  ];

  it.each(rows.map(([name, expected, records, now = 20 * minute]) => ({ name, expected, records, now })))(
    '$name',
    async ({ expected, records, now }) => {
      expect(missing(await timelineAfter(records, { now }))).toEqual(expected);
    },
  );
});

describe('a VM that the event names', () => {
  const preempt = (kind: 'scheduled' | 'started' | 'completed', vm: number, after: number) =>
    saying({
      kind,
      vm,
      after,
      event: freeze(0, { eventType: 'Preempt', resources: ['web-0'], notBefore: '2026-11-10T22:00:30Z' }),
    });

  it('is gone when an eviction took it before its agent could tell', async () => {
    const records = [
      beat(0, -minute),
      preempt('scheduled', 1, 0),
      preempt('started', 1, 25_000),
      preempt('completed', 1, minute),
    ];
    const timeline = await timelineAfter(records);
    expect(missing(timeline)).toEqual(['web-0 gone']);
    expect(timeline.vms).toMatchObject([{ vmName: 'web-0', reason: 'gone', endToldBy: 'peers' }]);
  });

  it('is gone when its host failed and it never came back, and silent while it may', async () => {
    const failure = { eventType: 'Reboot', resources: ['web-0'], eventStatus: 'Started', notBefore: null };
    const records = [
      ...[beat(0, -2 * hour), beat(1, -minute)],
      saying({ kind: 'started', vm: 1, event: freeze(0, failure), sequence: 2 }),
      saying({ kind: 'completed', vm: 1, event: freeze(0, failure), after: 5 * minute, sequence: 3 }),
    ];
    expect(missing(await timelineAfter(records))).toEqual(['web-0 gone']);
    const back = [...records, beat(0, 30 * minute, {}, 2)];
    expect(missing(await timelineAfter(back, { now: 31 * minute }))).toEqual(['web-0 silent']);
  });

  it('is missing without an agent when none was ever heard of', async () => {
    const timeline = await timelineAfter(liveMigration(0, 0));
    expect(missing(timeline)).toEqual(['web-1 no-agent']);
    expect([timeline.agentsExpected.value, timeline.agentsSaw.value]).toEqual([1, 1]);
  });

  it('counts once when it was installed anew, with what all its installations saw', async () => {
    const anew = beating({}, { vm: 7, after: 17 * minute, observer: observerOf(1) });
    const timeline = await timelineAfter([...seen, anew]);
    expect(missing(timeline)).toEqual([]);
    expect(timeline.agentsExpected.value).toBe(2);
    expect(timeline.vms).toMatchObject([
      {},
      { vmName: 'web-1', agentId: 'instance-7', saw: 'record', endToldBy: 'itself' },
    ]);
  });

  it('is not expected in an event after the one that ended it', async () => {
    const [first] = liveMigration(1, 1);
    const ended = [
      beat(2, -3 * hour),
      ...(['scheduled', 'started', 'completed'] as const).map((kind, at) =>
        saying({
          kind,
          vm: 1,
          after: -2 * hour + at * minute,
          sequence: 10 + at,
          event: freeze(5, { eventType: 'Terminate', resources: ['web-2'] }),
        }),
      ),
    ];
    if (first === undefined) throw new Error('a life has a beginning');
    expect(missing(await timelineAfter([...ended, first, ...liveMigration(1, 0)], { event: 1 }))).toEqual([]);
  });
});

describe('the set', () => {
  const of = (vm: number, change: Partial<Observer>) => ({ ...observerOf(vm), ...change });
  const resource = (group: string, vm: number) =>
    `/subscriptions/s/resourceGroups/${group}/providers/x/web_${vm}`;
  /** Two VMs: the one tells of the event, the other was heard of just before it. */
  const pair = (teller: Partial<Observer>, other: Partial<Observer>) => [
    saying({ kind: 'scheduled', event: freeze(0, { resources: ['web-0'] }), observer: of(0, teller) }),
    beating({}, { vm: 2, after: -minute, observer: of(2, other) }),
  ];
  const rows: readonly (readonly [string, number, readonly BridgeRecord[]])[] = [
    [
      'is the placement group, however it is spelled',
      2,
      pair({ placementGroupId: 'PG-1' }, { placementGroupId: 'pg-1', vmScaleSet: null }),
    ],
    [
      'is not another placement group of the same scale set',
      1,
      pair({ placementGroupId: 'pg-1' }, { placementGroupId: 'pg-2' }),
    ],
    [
      'is the scale set in the same resource group',
      2,
      pair({ resourceId: resource('a', 0) }, { resourceId: resource('A', 2) }),
    ],
    [
      'is not a scale set of that name in another one',
      1,
      pair({ resourceId: resource('a', 0) }, { resourceId: resource('b', 2) }),
    ],
    ['is nobody else for a VM of no scale set', 1, pair({ vmScaleSet: null }, { vmScaleSet: null })],
  ];

  it.each(rows)('%s', async (_, expected, records) => {
    const { agentsExpected } = await timelineAfter(records);
    expect(agentsExpected.value).toBe(expected);
  });

  it('is called an estimate where no VM knows its set', async () => {
    const { agentsExpected } = await timelineAfter(pair({ vmScaleSet: null }, {}));
    expect(agentsExpected.confidence).toBe('estimated');
    expect((await timelineAfter(pair({}, {}))).agentsExpected.confidence).toBe('inferred');
  });

  it('is found through a VM that is named and saw nothing', async () => {
    const observer = { ...observerOf(9), vmScaleSet: null };
    const records = [
      saying({ kind: 'scheduled', vm: 9, observer, event: freeze(0, { resources: ['WEB-0'] }) }),
      ...[0, 2].map((vm) => beat(vm, -minute)),
    ];
    expect(missing(await timelineAfter(records))).toEqual(['web-0 unknown', 'web-2 unknown']);
  });

  it('takes of two VMs of one name the one that is of it, and neither when none is', async () => {
    const twin = { ...observerOf(1), vmId: vmIdOf(77), vmScaleSet: 'db' };
    const twins = [beat(1, -minute), beating({}, { vm: 77, after: -minute, observer: twin })];
    const [told] = liveMigration(0, 0);
    if (told === undefined) throw new Error('a life has a beginning');
    expect(missing(await timelineAfter([told, ...twins]))).toEqual(['web-1 unknown']);
    const stranger = saying({ kind: 'scheduled', observer: { ...observerOf(0), vmScaleSet: null } });
    expect(missing(await timelineAfter([stranger, ...twins]))).toEqual(['web-1 no-agent']);
  });
});
