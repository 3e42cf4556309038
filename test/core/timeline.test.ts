// The timeline of an event: each figure by its definition, and how sure it is.
import { describe, expect, it } from 'vitest';
import type { ScheduledEvent } from '../../src/core/document.ts';
import type { Timeline } from '../../src/core/timeline.ts';
import { spanText } from '../../src/core/timeline-story.ts';
import { eventIdOf, freeze, liveMigration, type Saying, saying, synthesisAt } from '../support/synthetic.ts';
import { approving, beating, feeling, hooking } from '../support/synthetic-deeds.ts';
import { timelineAfter } from '../support/timelines.ts';

const minute = 60_000;
const idOf = (event: number): string => eventIdOf(event).toLowerCase();

/** Announced, started and gone, with what differs. */
const life = (
  change: Partial<ScheduledEvent>,
  {
    started = 15 * minute,
    gone = 16 * minute,
    ...by
  }: Partial<Saying> & { started?: number; gone?: number } = {},
) => [
  saying({ event: freeze(0, change), kind: 'scheduled', ...by }),
  saying({ event: freeze(0, { ...change, eventStatus: 'Started' }), kind: 'started', after: started, ...by }),
  saying({ event: freeze(0, { ...change, eventStatus: 'Started' }), kind: 'completed', after: gone, ...by }),
];

const due = (ms: number) => ({ notBefore: new Date(synthesisAt + ms).toISOString() });

/** A record of an agent that began with the event already there. */
const beganWith = (options: Saying) => {
  const record = saying(options);
  return { ...record, data: { ...record.data, initial: true } };
};

/** `said 900`: what a test looks at first. */
const short = ({ confidence, value }: { confidence: string; value: unknown }): string =>
  `${confidence} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`;

describe('notice', () => {
  type Row = readonly [string, readonly string[], readonly ReturnType<typeof saying>[]];
  const rows: readonly Row[] = [
    [
      'that kept what Azure documents',
      ['measured 900', 'measured 900', 'said 900', 'measured 0', 'estimated 0'],
      life({}),
    ],
    [
      'that fell short of it, and was cut shorter by an early start',
      ['measured 300', 'measured 240', 'said 900', 'measured 600', 'estimated 600'],
      life(due(5 * minute), { started: 4 * minute }),
    ],
    [
      'of days, to which the minimum cannot be compared',
      ['measured 172800', 'measured 900', 'said 600', 'measured 0', 'unknown null'],
      life({ eventType: 'Redeploy', ...due(48 * 60 * minute) }),
    ],
    [
      'of half a minute before an eviction',
      ['measured 30', 'measured 12', 'said 30', 'measured 0', 'estimated 0'],
      life({ eventType: 'Preempt', ...due(30_000) }, { started: 12_000 }),
    ],
    [
      'that the user set',
      ['measured 900', 'measured 900', 'unknown null', 'unknown null', 'unknown null'],
      life({ eventType: 'Terminate' }),
    ],
    [
      'of an event that was due already when it was seen',
      ['measured -60', 'unknown null', 'said 900', 'measured 960', 'estimated 960'],
      [saying({ event: freeze(0, due(-minute)), kind: 'scheduled' })],
    ],
    [
      'of a failure, which is none',
      ['unknown null', 'measured 0', 'said 900', 'unknown null', 'unknown null'],
      [saying({ event: freeze(0, { eventType: 'Reboot', eventStatus: 'Started' }), kind: 'started' })],
    ],
    [
      'to an agent that began with the event, which may have been there for longer',
      ['estimated 900', 'estimated 900', 'said 900', 'estimated 0', 'estimated 0'],
      [beganWith({ kind: 'scheduled' }), ...life({}).slice(1)],
    ],
    [
      'of an event whose time was changed on the way',
      ['estimated 1800', 'unknown null', 'said 900', 'estimated 0', 'unknown null'],
      [
        saying({ kind: 'scheduled' }),
        saying({ kind: 'updated', event: freeze(0, due(30 * minute)), after: minute }),
      ],
    ],
  ];

  it.each(rows)('%s', async (_, figures, records) => {
    const timeline = await timelineAfter(records);
    expect([
      short(timeline.noticeOfferedSeconds),
      short(timeline.noticeEffectiveSeconds),
      short(timeline.noticeMinimumSeconds),
      short(timeline.noticeShortfallSeconds),
      short(timeline.detectionDelaySeconds),
    ]).toEqual(figures);
  });

  it('is counted from the earliest of all witnesses, and says which VM that was', async () => {
    const records = [...life({}, { vm: 1 }), saying({ kind: 'scheduled', vm: 2, after: -2_000 })];
    const { firstSeen, noticeOfferedSeconds } = await timelineAfter(records);
    expect(firstSeen).toMatchObject({
      value: { at: synthesisAt - 2_000, by: 'web-2' },
      confidence: 'measured',
    });
    expect(noticeOfferedSeconds.value).toBe(902);
  });

  it('is not called late because one of several agents began with the event', async () => {
    const late = beganWith({ kind: 'scheduled', vm: 3, after: minute });
    expect(short((await timelineAfter([late, ...life({})])).noticeOfferedSeconds)).toBe('measured 900');
  });
});

describe('who let it begin', () => {
  const early = { started: 3 * minute, gone: 4 * minute };
  const by = (after: number) => approving({}, { after, sequence: 9 });
  const person = approving(
    { reason: 'person', actor: { kind: 'person', name: 'ada' }, rule: null, elected: 'person' },
    { after: minute, sequence: 9 },
  );
  const begun = (change: Partial<ScheduledEvent>) => [
    saying({ event: freeze(0, { eventStatus: 'Started', ...change }), kind: 'started' }),
  ];
  type Row = readonly [string, string, readonly ReturnType<typeof approving>[]];
  const rows: readonly Row[] = [
    ['an agent, as its record says', 'said web-0 agent-post', [...life({}, early), by(minute)]],
    ['a person, as the record says', 'said ada on web-0 person', [...life({}, early), person]],
    [
      'an agent, also while it has not begun yet',
      'said web-0 agent-post',
      [saying({ kind: 'scheduled' }), by(1)],
    ],
    ['nobody: its time came', 'inferred null not-before-elapsed', life({})],
    [
      'nobody: it began a few seconds early by one clock',
      'inferred null not-before-elapsed',
      life({}, { started: 891_000 }),
    ],
    [
      'nobody here, when our approval came after the start',
      'inferred null unknown',
      [...life({}, early), by(3.5 * minute)],
    ],
    ['somebody else, when it began long before its time', 'inferred null unknown', life({}, early)],
    [
      'nobody here, when the agents only refused',
      'inferred null unknown',
      [
        ...life({}, early),
        approving({ decision: 'refused', reason: 'no-rule', answer: null }, { after: minute }),
      ],
    ],
    [
      'a policy, when a user’s event is first seen started',
      'inferred null policy-auto',
      begun({ eventSource: 'User' }),
    ],
    ['a failure, when the platform’s is', 'inferred null hardware-failure', begun({})],
    ['nobody knows, when an eviction is', 'inferred null unknown', begun({ eventType: 'Preempt' })],
    [
      'nobody knows, when the agent began with it',
      'inferred null unknown',
      [beganWith({ kind: 'started', event: freeze(0, { eventStatus: 'Started', notBefore: null }) })],
    ],
    ['nobody yet', 'unknown undefined undefined', [saying({ kind: 'scheduled' })]],
    [
      'nobody knows, when nobody saw it start',
      'unknown undefined undefined',
      [
        saying({ kind: 'scheduled' }),
        saying({ kind: 'completed', reason: 'start-not-observed', after: 16 * minute }),
      ],
    ],
  ];

  it.each(rows)('%s', async (_, expected, records) => {
    const { approved } = await timelineAfter(records);
    expect(`${approved.confidence} ${approved.value?.by} ${approved.value?.via}`).toBe(expected);
  });

  it('tells the time of the approval, or the time that elapsed', async () => {
    const own = await timelineAfter([...life({}, early), by(minute)]);
    expect(own.approved.value?.at).toBe(synthesisAt + minute);
    expect((await timelineAfter(life({}))).approved.value?.at).toBe(synthesisAt + 15 * minute);
  });
});

describe('impact', () => {
  const of = (lowerMs: number, upperMs: number, vm: number) =>
    feeling({ measured: { lowerMs, upperMs } }, { vm, after: 961_000, sequence: 9 });

  it('is bounded by the longest of all named VMs, beside what was announced', async () => {
    const timeline = await timelineAfter([
      ...life({}),
      ...life({}, { vm: 1 }),
      of(6_000, 7_000, 0),
      of(2_000, 9_000, 1),
    ]);
    expect(timeline.impactMeasured).toMatchObject({
      value: { lowerMs: 6_000, upperMs: 9_000, vms: 2, of: 2 },
      confidence: 'measured',
    });
    expect(short(timeline.impactAdvertisedSeconds)).toBe('said 5');
    expect(timeline.impactRatio).toMatchObject({ value: { lower: 1.2, upper: 1.8 }, confidence: 'measured' });
    expect(timeline.vms.map(({ impact }) => impact?.upperMs)).toEqual([7_000, 9_000]);
  });

  it('is an estimate while a named VM said nothing of it, and what others felt is left out', async () => {
    const { impactMeasured } = await timelineAfter([...life({}), of(6_000, 7_000, 0), of(60_000, 70_000, 2)]);
    expect(impactMeasured).toMatchObject({
      value: { upperMs: 7_000, vms: 1, of: 2 },
      confidence: 'estimated',
    });
  });

  it('is unknown where nothing was measured or announced', async () => {
    const nothing = await timelineAfter(life({ durationSeconds: null }));
    expect([nothing.impactMeasured, nothing.impactAdvertisedSeconds, nothing.impactRatio].map(short)).toEqual(
      Array(3).fill('unknown null'),
    );
    const zero = await timelineAfter([...life({ durationSeconds: 0 }), of(100, 200, 0)]);
    expect([short(zero.impactAdvertisedSeconds), short(zero.impactRatio)]).toEqual([
      'said 0',
      'unknown null',
    ]);
  });

  it('is not the maintenance window', async () => {
    const { window } = await timelineAfter(life({}));
    expect(window).toMatchObject({
      value: { seconds: 60, from: synthesisAt + 15 * minute },
      confidence: 'measured',
    });
    const open = await timelineAfter(life({}).slice(0, 2));
    expect(open.window.value).toMatchObject({ to: null, seconds: null });
    expect(short((await timelineAfter(life({}).slice(0, 1))).window)).toBe('unknown null');
  });
});

describe('outcome', () => {
  const [announced, begun] = life({});
  if (announced === undefined || begun === undefined) throw new Error('a life has a beginning');
  const said = saying({ kind: 'completed', reason: 'status', after: 16 * minute });
  const missed = saying({ kind: 'completed', reason: 'start-not-observed', after: 16 * minute });
  const gone = saying({ kind: 'canceled', reason: 'removed-before-not-before', after: 8 * minute });
  const day = 24 * 60 * minute;
  const rows: readonly (readonly [string, string, readonly ReturnType<typeof saying>[], number?])[] = [
    ['completed when it was gone after its start', 'inferred completed', life({})],
    ['completed when Azure says so', 'said completed', [announced, said]],
    ['canceled when it was gone before its time', 'inferred canceled', [announced, gone]],
    ['a missed start when it was gone after its time', 'inferred missed-start', [announced, missed]],
    ['open while those who saw it are heard', 'measured open', [announced]],
    [
      'started only, when nobody who saw it is heard any more',
      'inferred started-only',
      [announced, begun],
      day,
    ],
    ['expired, when its time passed and nobody is left', 'inferred expired', [announced], day],
    [
      'open as far as anybody knows, when its time is still to come',
      'estimated open',
      [saying({ kind: 'scheduled', event: freeze(0, due(2 * day)) })],
      day,
    ],
  ];

  it.each(rows.map(([name, expected, records, now = 20 * minute]) => ({ name, expected, records, now })))(
    'is $name',
    async ({ expected, records, now }) => {
      expect(short((await timelineAfter(records, { now })).outcome)).toBe(expected);
    },
  );
});

describe('its place among other events', () => {
  /** A freeze of one VM, whose number is its fault domain. */
  const frozen = (event: number, vm: number, [from, started, gone]: readonly [number, number, number]) => [
    saying({
      event: freeze(event, { resources: [`web-${vm}`] }),
      kind: 'scheduled',
      vm,
      after: from * minute,
      sequence: event,
    }),
    saying({
      event: freeze(event, { resources: [`web-${vm}`], eventStatus: 'Started' }),
      kind: 'started',
      vm,
      after: started * minute,
      sequence: event + 10,
    }),
    saying({
      event: freeze(event, { resources: [`web-${vm}`], eventStatus: 'Started' }),
      kind: 'completed',
      vm,
      after: gone * minute,
      sequence: event + 20,
    }),
  ];
  const own = frozen(0, 0, [0, 15, 16]);

  it('shows windows of other fault domains that overlap, and for how long', async () => {
    const records = [
      ...own,
      ...frozen(1, 1, [1, 15.5, 17]),
      ...frozen(2, 5, [1, 15, 16]),
      ...frozen(3, 2, [1, 16.5, 17]),
    ];
    const { faultDomainOverlap } = await timelineAfter(records);
    expect(faultDomainOverlap).toMatchObject({
      confidence: 'measured',
      value: [{ eventId: idOf(1), faultDomains: ['1'], seconds: 30 }],
    });
  });

  it('shows the run that goes from one fault domain to the next within half an hour', async () => {
    const records = [
      ...own,
      ...frozen(1, 1, [-40, -30, -29]),
      ...frozen(2, 2, [-50, -45, -40]),
      ...frozen(3, 3, [46, 60, 61]),
      ...frozen(4, 4, [47, 70, 71]),
      ...frozen(5, 5, [17, 19, 20]),
    ];
    expect((await timelineAfter(records)).serialisedRun).toMatchObject({
      confidence: 'measured',
      value: { previous: idOf(1), next: idOf(3) },
    });
    const alone = await timelineAfter([...own, ...frozen(4, 4, [47, 70, 71])]);
    expect(alone.serialisedRun.value).toEqual({ previous: null, next: null });
  });

  it('knows nothing of it without fault domains, and nothing of events of another set', async () => {
    const observer = { vmId: 'x', vmName: 'web-0', faultDomain: null };
    const records = [
      saying({ kind: 'scheduled', observer: { ...own[0]?.data.observer, ...observer } as never }),
    ];
    expect((await timelineAfter(records)).faultDomainOverlap.confidence).toBe('unknown');
    const foreign = frozen(1, 1, [1, 15.5, 17]).map((record) => ({
      ...record,
      data: { ...record.data, observer: { ...record.data.observer, vmScaleSet: 'db' } },
    }));
    expect((await timelineAfter([...own, ...foreign])).faultDomainOverlap.value).toEqual([]);
  });
});

it.each([
  [0, '0 s'],
  [2_249, '2.2 s'],
  [35_400, '35 s'],
  [119_400, '119 s'],
  [120_000, '2 min'],
  [885_000, '14 min 45 s'],
  [12_000_000, '3 h 20 min'],
  [602_400_000, '6 d 23 h'],
])('writes %i ms as %s', (ms, text) => expect(spanText(ms)).toBe(text));

describe('its story', () => {
  const texts = ({ story }: Timeline) =>
    story.map(({ who, text, inferred }) => `${who}: ${inferred ? '~' : ''}${text}`);

  it('tells who saw, did, felt and was told what, in the order of time, each once', async () => {
    const records = [
      ...[1, 0, 2].flatMap((vm) => liveMigration(0, vm)),
      hooking({ outcome: 'started', durationMs: null, exitCode: null }, { after: minute, sequence: 10 }),
      hooking(
        { startedAt: new Date(synthesisAt + minute).toISOString() },
        { after: minute + 1_200, sequence: 11 },
      ),
      hooking(
        {
          outcome: 'timed-out',
          exitCode: null,
          signal: 'SIGKILL',
          durationMs: 60_000,
          startedAt: new Date(synthesisAt + minute).toISOString(),
        },
        { vm: 1, after: 2 * minute, sequence: 10 },
      ),
      approving(
        { decision: 'refused', reason: 'prepare-failed', answer: null },
        { vm: 1, after: 2 * minute, sequence: 11 },
      ),
      hooking({ outcome: 'started', hook: '/slow' }, { vm: 2, after: 3 * minute, sequence: 9 }),
      approving({}, { after: 3 * minute, sequence: 12 }),
      feeling({}, { after: 17 * minute, sequence: 13 }),
      feeling({ kind: 'none', measured: null }, { vm: 1, after: 17 * minute + 1, sequence: 13 }),
    ];
    const notified = {
      kind: 'notified',
      sink: 'ops',
      type: 'x',
      reason: null,
      attempts: 1,
      outcome: 'delivered',
    } as const;
    const facts = [
      {
        ...notified,
        id: 'n-1',
        facts: [`${idOf(0)}_started`, 'other_started'],
        settledAt: new Date(synthesisAt + 15.5 * minute).toISOString(),
      },
      {
        ...notified,
        id: `${idOf(0)}-of-another`,
        facts: [`${idOf(1)}_started`],
        settledAt: new Date(synthesisAt).toISOString(),
      },
      {
        ...notified,
        id: 'n-3',
        sink: 'oncall',
        outcome: 'dead',
        reason: 'timeout',
        attempts: 9,
        facts: [`${idOf(0)}_completed`],
        settledAt: new Date(synthesisAt + 18 * minute).toISOString(),
      } as const,
    ];
    const timeline = await timelineAfter(records, { facts });
    expect(texts(timeline)).toEqual([
      'web-0: saw it announced; so did 2 more VMs',
      'web-0: began the prepare hook /usr/local/bin/drain',
      'web-1: began the prepare hook /usr/local/bin/drain',
      'web-0: the prepare hook /usr/local/bin/drain ended well after 1.2 s',
      'web-1: the prepare hook /usr/local/bin/drain ran out of time after 60 s by SIGKILL',
      'web-1: did not approve it, by rule 1 (prepare-failed)',
      'web-2: began the prepare hook /slow',
      'web-0: approved it, by rule 1; IMDS answered 200',
      'web-0: saw it started; so did 2 more VMs',
      'ops: took a notice of 2 facts after 1 attempt',
      'web-0: ~saw it gone, and takes it for completed; so did 2 more VMs',
      'web-0: felt a pause of 6 s to 7 s',
      'web-1: watched throughout, and felt nothing',
      'oncall: did not get a notice: dead (timeout) after 9 attempts',
    ]);
    expect(timeline.notified).toMatchObject({
      confidence: 'said',
      value: [
        { sink: 'ops', outcome: 'delivered', facts: [`${idOf(0)}_started`] },
        { sink: 'oncall', outcome: 'dead', reason: 'timeout', attempts: 9 },
      ],
    });
  });

  it('has the end that peers told of a VM that was evicted, and says that only they did', async () => {
    const evicted = { eventType: 'Preempt', resources: ['web-0'], ...due(30_000) };
    const records = [
      beating({}, { after: -minute, sequence: 0 }),
      ...life(evicted).slice(0, 1),
      ...life(evicted, { vm: 1, started: 25_000, gone: 60_000, sequence: 4 }),
    ];
    const timeline = await timelineAfter(records);
    expect(timeline.vms).toMatchObject([{ vmName: 'web-0', saw: 'record', endToldBy: 'peers' }]);
    expect(short(timeline.outcome)).toBe('inferred completed');
    const alone = await timelineAfter(records.slice(0, 2));
    expect(alone.vms).toMatchObject([{ vmName: 'web-0', endToldBy: 'nobody' }]);
    const healthy = await timelineAfter(life({}));
    expect(healthy.vms.map(({ endToldBy }) => endToldBy)).toEqual(['itself', 'peers']);
  });
});
