// What records say to people: whole notices, written out by hand, and no record that cannot be told of.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noticeOf } from '../../src/core/notice.ts';
import { unknownObserver } from '../../src/core/observer.ts';
import { agentRecord, type BridgeRecord } from '../../src/core/record.ts';
import type { WireEvent } from '../support/documents.ts';
import { mangledRecords } from '../support/mangled-records.ts';
import { announced, linesOf, lives } from '../support/notices.ts';
import { documentedLife, lastRecord, type Step, stamp } from '../support/story.ts';

const portal =
  'https://portal.azure.com/#resource/subscriptions/1111/resourceGroups/rg-westno/virtualMachineScaleSets/WestNO/virtualMachines/0/overview';
const described =
  '"Virtual machine is being paused because of a memory-preserving Live Migration operation."';
const place = [
  'Location: norwaywest / rg-westno',
  'Machine: Standard_D4s_v5, scale set WestNO, fault domain 1',
];
const end = [`→ ${portal}`, '# C7061BAC-AFDC-4513-B24B-AA5F13A16123'];

const retyped = (events: readonly unknown[], EventType: string) =>
  events.map((event) => ({ ...(event as WireEvent), EventType }));

const told = (steps: readonly Step[], by = stamp) => linesOf(noticeOf(lastRecord(steps, by)));

describe('the notice of an event that is', () => {
  it('scheduled says when it starts, what it does, that nobody approved it, and how much notice there is', () => {
    expect(told(lives.scheduled)).toEqual([
      'scheduled, announced',
      'Maintenance scheduled: Freeze (about 5 s) on WestNO_0, not before 2026-11-10 22:26:58 UTC',
      'Maintenance scheduled: WestNO_0',
      'Freeze (about 5 s)',
      'VM: WestNO_0 →',
      'Impact: Freeze: paused, about 5 s',
      'Not before: 2026-11-10 22:26:58 UTC (1794349618000)',
      'Started by: Azure platform',
      'Approval: Not approved: starts by itself at or after 2026-11-10 22:26:58 UTC, sooner if approved',
      'Notice given: 15 min 26 s from first sight to the earliest start',
      ...place,
      described,
      ...end,
    ]);
  });

  it('in progress says since when, and that the pause is not the whole of it', () => {
    expect(told(lives.started)).toEqual([
      'started, ongoing',
      'Maintenance in progress: Freeze (about 5 s) on WestNO_0, started 2026-11-10 22:27:04 UTC',
      'Maintenance in progress: WestNO_0',
      'Freeze (about 5 s)',
      'VM: WestNO_0 →',
      'Impact: Freeze: paused, about 5 s',
      'Started: 2026-11-10 22:27:04 UTC (1794349624204)',
      'Started by: Azure platform',
      'Notice given: 15 min 33 s from first sight to the start',
      ...place,
      described,
      '! The pause itself is shorter than the event, which Azure may keep open for minutes: it is over when its end is reported.',
      ...end,
    ]);
  });

  it('in progress speaks of no pause when there is none', () => {
    const steps = lives.started.map((step) => ({ ...step, events: retyped(step.events, 'Reboot') }));
    expect(told(steps).join('\n')).not.toContain('The pause itself');
  });

  it('over before it began, by a clock that was set back, claims no length', () => {
    const record = lastRecord(lives['completed, as it is gone']);
    const timeline = { ...record.data.timeline, completed: '2026-11-10T22:00:00.000Z' };
    const lines = linesOf(noticeOf({ ...record, data: { ...record.data, timeline } }));
    expect(lines.join('\n')).not.toContain('In progress for');
  });

  it('over, because it is gone, says by when it finished, how long it went on, and why we think so', () => {
    expect(told(lives['completed, as it is gone'])).toEqual([
      'completed, good',
      'Maintenance completed: Freeze (about 5 s) on WestNO_0, finished by 2026-11-10 22:27:21 UTC (inferred)',
      'Maintenance completed: WestNO_0',
      'Freeze (about 5 s)',
      'VM: WestNO_0 →',
      'Impact: Freeze: paused, about 5 s',
      'Started: 2026-11-10 22:27:04 UTC (1794349624204)',
      'Finished by: 2026-11-10 22:27:21 UTC (inferred) (1794349641204)',
      'In progress for: About 17 s',
      'Started by: Azure platform',
      'Notice given: 15 min 33 s from first sight to the start',
      ...place,
      described,
      '! Inferred: Azure removed the event after it had started, which is how it says that one is over.',
      ...end,
    ]);
  });

  it('over, as Azure itself says, infers nothing', () => {
    const lines = told(lives['completed, as Azure says']);
    expect(lines).toContain(
      'Maintenance completed: Freeze (about 5 s) on WestNO_0, finished by 2026-11-10 22:27:21 UTC',
    );
    expect(lines.join('\n')).not.toMatch(/infer/i);
  });

  it('gone without having been seen to start says that it is in doubt, and why', () => {
    expect(told(lives['probably completed'])).toEqual([
      'completed, good',
      'Maintenance probably completed: Freeze (about 5 s) on WestNO_0, gone by 2026-11-10 22:27:31 UTC (inferred)',
      'Maintenance probably completed: WestNO_0',
      'Freeze (about 5 s)',
      'VM: WestNO_0 →',
      'Impact: Freeze: paused, about 5 s',
      'Gone by: 2026-11-10 22:27:31 UTC (inferred) (1794349651204)',
      'Started by: Azure platform',
      ...place,
      described,
      '! Inferred, and in doubt: Azure removed the event and nobody saw it start, but it was due or approved, the VM restarted, or the agent had not looked for more than 10 s. It most likely ran.',
      ...end,
    ]);
  });

  it('called off, because it is gone before its time, says when it was due and why we think so', () => {
    expect(told(lives['canceled, as it is gone'])).toEqual([
      'canceled, quiet',
      'Maintenance canceled: Freeze (about 5 s) on WestNO_0, was due 2026-11-10 22:26:58 UTC, gone by 2026-11-10 22:16:31 UTC (inferred)',
      'Maintenance canceled: WestNO_0',
      'Freeze (about 5 s)',
      'VM: WestNO_0 →',
      'Impact: Freeze: paused, about 5 s',
      'Was due: 2026-11-10 22:26:58 UTC (1794349618000)',
      'Gone by: 2026-11-10 22:16:31 UTC (inferred) (1794348991204)',
      'Started by: Azure platform',
      ...place,
      described,
      '! Inferred: Azure removed the event before its time, which is how it says that one is called off.',
      ...end,
    ]);
  });

  it('called off, as Azure itself says, infers nothing', () => {
    const lines = told(lives['canceled, as Azure says']);
    expect(lines).toContain(
      'Maintenance canceled: Freeze (about 5 s) on WestNO_0, was due 2026-11-10 22:26:58 UTC',
    );
    expect(lines.join('\n')).not.toMatch(/infer/i);
  });

  it('changed says what changed and how it was before, and claims nothing about its approval', () => {
    expect(told(lives.updated)).toEqual([
      'updated, announced',
      'Maintenance updated: Freeze (about 9 s) on WestNO_0, not before 2026-11-10 22:36:58 UTC (changed: not before, length)',
      'Maintenance updated: WestNO_0',
      'Freeze (about 9 s)',
      'VM: WestNO_0 →',
      'Changed: not before (was 2026-11-10 22:26:58 UTC), length (was about 5 s)',
      'Impact: Freeze: paused, about 9 s',
      'Not before: 2026-11-10 22:36:58 UTC (1794350218000)',
      'Started by: Azure platform',
      'Approval: Starts by itself at or after 2026-11-10 22:36:58 UTC, sooner if approved',
      'Notice given: 25 min 26 s from first sight to the earliest start',
      ...place,
      described,
      ...end,
    ]);
  });

  it('changed while under way says since when it is', () => {
    const lines = told(lives['updated while under way']);
    expect(lines.slice(0, 10)).toEqual([
      'updated, announced',
      'Maintenance updated: Freeze (about 5 s) on WestNO_0 and 1 more VM, in progress (changed: VMs)',
      'Maintenance updated: WestNO_0 and 1 more VM',
      'Freeze (about 5 s)',
      'VM: WestNO_0 →',
      'Also named: WestNO_4',
      'Changed: VMs (added WestNO_4)',
      'Impact: Freeze: paused, about 5 s',
      'Started: 2026-11-10 22:27:04 UTC (1794349624204)',
      'Started by: Azure platform',
    ]);
  });

  it('older than the agent says so, and does not claim that nobody approved it', () => {
    const lines = told(lives['there before the agent']);
    expect(lines).toContain(
      'Approval: Starts by itself at or after 2026-11-10 22:26:58 UTC, sooner if approved',
    );
    expect(lines).toContain('! It was already announced when the agent began: since when is not known.');
  });

  it('under way since before the agent claims no start', () => {
    const lines = told(lives['under way before the agent']);
    expect(lines[1]).toBe(
      'Maintenance in progress: Freeze (about 5 s) on WestNO_0, already under way when first seen 2026-11-10 22:11:31 UTC',
    );
    expect(lines).toContain('First seen in progress: 2026-11-10 22:11:31 UTC (1794348691204)');
    expect(lines).toContain(
      '! It was already in progress when the agent began: when it was announced and when it started is not known.',
    );
    expect(lines.join('\n')).not.toMatch(/^(Started|Notice given):/m);
  });

  it('under way since before the agent says in the end how long it went on at least', () => {
    expect(told(lives['under way before the agent, and over'])).toContain('In progress for: At least 2 min');
  });
});

describe('what an event does', () => {
  it.each([
    ['Freeze', 5, 'Freeze (about 5 s)', 'Freeze: paused, about 5 s'],
    ['Freeze', 0, 'Freeze (no interruption expected)', 'Freeze: paused, no interruption expected'],
    ['Freeze', -1, 'Freeze (length unknown)', 'Freeze: paused, length unknown'],
    ['Pause', 5, 'Freeze (about 5 s)', 'Freeze: paused, about 5 s'],
    ['Reboot', -1, 'Reboot (restarted)', 'Reboot: restarted, length unknown'],
    ['Reboot', 90, 'Reboot (restarted, about 1 min 30 s)', 'Reboot: restarted, about 1 min 30 s'],
    [
      'Redeploy',
      -1,
      'Redeploy (moved to other hardware, temporary disk lost)',
      'Redeploy: moved to other hardware, temporary disk lost, length unknown',
    ],
    ['Preempt', -1, 'Preempt (Spot eviction)', 'Preempt: evicted (Spot)'],
    ['Terminate', -1, 'Terminate (deleted)', 'Terminate: deleted'],
    ['terminate', -1, 'terminate (deleted)', 'terminate: deleted'],
    ['Hibernate', -1, 'Hibernate (length unknown)', 'Hibernate: length unknown'],
    ['Hibernate', 0, 'Hibernate (no interruption expected)', 'Hibernate: no interruption expected'],
    ['', 5, 'Event of unknown type (about 5 s)', 'Event of unknown type: about 5 s'],
  ])('is said in plain words for %s of %i s', (EventType, DurationInSeconds, what, impact) => {
    const lines = told([{ events: [announced({ EventType, DurationInSeconds })] }]);
    expect(lines[1]).toBe(`Maintenance scheduled: ${what} on WestNO_0, not before 2026-11-10 22:26:58 UTC`);
    expect(lines[3]).toBe(what);
    expect(lines).toContain(`Impact: ${impact}`);
  });

  it('is not made up for a type that is not known', () => {
    const lines = told([{ events: [announced({ EventType: 'Hibernate' })] }]);
    expect(lines).toContain('! What an event of type Hibernate does to a VM is not known here.');
  });

  it.each([
    ['Freeze', 'scheduled', 'announced'],
    ['Redeploy', 'scheduled', 'alarming'],
    ['Redeploy', 'started', 'alarming'],
    ['Preempt', 'scheduled', 'alarming'],
    ['Reboot', 'started', 'ongoing'],
    ['Redeploy', 'completed, as it is gone', 'good'],
    ['Redeploy', 'canceled, as it is gone', 'quiet'],
  ] as const)('colours a %s that is %s: %s', (EventType, life, tone) => {
    const steps = lives[life].map((step) => ({ ...step, events: retyped(step.events, EventType) }));
    expect(noticeOf(lastRecord(steps)).tone).toBe(tone);
  });
});

describe('who and when', () => {
  const factsOf = (change: WireEvent) =>
    told([{ events: [announced({ ...change })] }]).filter((line) => /^[A-Z][a-z ]+: /.test(line));

  it.each([
    ['Platform', 'Azure platform'],
    ['User', 'A user'],
    ['Robot', 'Robot'],
    [undefined, 'Not said by Azure'],
  ])('names the source %s', (EventSource, name) => {
    expect(factsOf({ EventSource })).toContain(`Started by: ${name}`);
  });

  it('shows a time that cannot be read as it came', () => {
    const lines = told([{ events: [announced({ NotBefore: 'in a while' })] }]);
    expect(lines[1]).toBe('Maintenance scheduled: Freeze (about 5 s) on WestNO_0, not before "in a while"');
    expect(lines).toContain('Not before: in a while');
    expect(lines).toContain('Approval: Not approved: starts by itself, sooner if approved');
  });

  it('says that no time was given', () => {
    const lines = told([{ events: [announced({ NotBefore: '' })] }]);
    expect(lines[1]).toBe('Maintenance scheduled: Freeze (about 5 s) on WestNO_0, start time not given');
  });

  it('says that there was no notice', () => {
    const NotBefore = 'Tue, 10 Nov 2026 22:11:00 GMT';
    expect(factsOf({ NotBefore })).toContain('Notice given: None: it was due or under way when first seen');
  });
});

describe('which VMs', () => {
  const headline = (Resources: readonly string[], by = stamp) =>
    told([{ events: [announced({ Resources })] }], by);
  const nameless = { ...stamp, observer: unknownObserver };

  it('names the VM that speaks first, and counts the others', () => {
    const lines = headline(['WestNO_3', 'westno_0', '_WestNO_4', 'a', 'b', 'c', 'd', 'e']);
    expect(lines[2]).toBe('Maintenance scheduled: WestNO_0 and 7 more VMs');
    expect(lines).toContain('Also named: WestNO_3, WestNO_4, a, b, c and 2 more VMs');
  });

  it('hides none behind a number that would take the same room', () => {
    expect(headline(['WestNO_0', 'a', 'b', 'c', 'd', 'e', 'f'])).toContain('Also named: a, b, c, d, e, f');
  });

  it('says that the VM only saw an event of others, and never links to it in their place', () => {
    const lines = headline(['WestNO_1']);
    expect(lines[2]).toBe('Maintenance scheduled: WestNO_1');
    expect(lines.slice(4, 6)).toEqual(['VM: WestNO_1', 'Seen by: WestNO_0 →']);
    expect(lines).toContain('! The event does not name WestNO_0, which only saw it.');
    expect(lines).not.toContain(`→ ${portal}`);
  });

  it('says that a VM does not know its own name', () => {
    const lines = headline(['WestNO_1', 'WestNO_2'], nameless);
    expect(lines[2]).toBe('Maintenance scheduled: WestNO_1 and 1 more VM');
    expect(lines).toContain(
      '! The agent does not know the name of its VM yet, so whether the event names it is open.',
    );
  });

  it('says that Azure named none', () => {
    const lines = headline([], nameless);
    expect(lines[2]).toBe('Maintenance scheduled: a VM that Azure did not name');
    expect(lines).toContain('VM: Not named by Azure');
  });
});

describe('what changed', () => {
  const changed = (before: object, now: object) =>
    told([{ events: [announced({ ...before })] }, { events: [announced({ ...now })] }]).find((line) =>
      line.startsWith('Changed: '),
    );

  it.each([
    ['the type', { EventType: 'Reboot' }, { EventType: 'Redeploy' }, 'type (was Reboot)'],
    ['the source', { EventSource: 'Platform' }, { EventSource: 'User' }, 'source (was Platform)'],
    ['a length that was unknown', { DurationInSeconds: -1 }, {}, 'length (was unknown)'],
    ['a time that was not given', { NotBefore: '' }, {}, 'not before (was not given)'],
    [
      'the VMs',
      { Resources: ['WestNO_0', 'a', 'b'] },
      { Resources: ['WestNO_0', 'B', 'c'] },
      'VMs (added c; no longer a)',
    ],
    ['a short description', { Description: 'Old *news*.' }, {}, 'description (was "Old *news*.")'],
    [
      'a long description',
      { Description: `${'x'.repeat(200)}` },
      {},
      `description (was "${'x'.repeat(147)}… (shortened)")`,
    ],
  ])('tells of %s', (_, before, now, text) => {
    expect(changed(before, now)).toBe(`Changed: ${text}`);
  });
});

describe('notices of records that are not about an event', () => {
  it('say of a test that it is one, and that nothing is scheduled', () => {
    const record = agentRecord('test', 1794349618000, { test: true, sink: 'ops' }, stamp);
    expect(linesOf(noticeOf(record))).toEqual([
      'test, quiet',
      'Test message from WestNO_0: nothing is scheduled',
      'Test message: WestNO_0',
      'Nothing is scheduled',
      'VM: WestNO_0 →',
      'Sent: 2026-11-10 22:26:58 UTC (1794349618000)',
      'Sink: ops',
      'Agent: version 1.0.0',
      ...place,
      '! Somebody tries whether notices arrive here. There is nothing to do.',
      `→ ${portal}`,
    ]);
  });

  const at = Date.UTC(2026, 10, 10, 22, 26, 58);
  const of = (type: string, data: Readonly<Record<string, unknown>>): BridgeRecord => ({
    ...agentRecord('heartbeat', at, data, stamp),
    type: `io.github.scheduled-events-bridge.${type}`,
  });

  it('say in short that an agent is watching', () => {
    expect(linesOf(noticeOf(of('agent.heartbeat.v1', { source: { state: 'ok' } })))).toEqual([
      'other, quiet',
      'Agent is watching on WestNO_0',
      'Agent is watching: WestNO_0',
      'Agent is watching',
      'VM: WestNO_0 →',
      'At: 2026-11-10 22:26:58 UTC (1794349618000)',
      'Source: ok',
      'Agent: version 1.0.0',
      ...place,
      'Record type: io.github.scheduled-events-bridge.agent.heartbeat.v1',
      `→ ${portal}`,
    ]);
  });

  it.each([
    ['agent.started.v1', 'Agent started on WestNO_0'],
    ['event.paused.v1', 'Record of a kind that is not known here on WestNO_0'],
    ['constructor.v1', 'Record of a kind that is not known here on WestNO_0'],
  ])('have a headline for %s', (type, headline) => {
    expect(noticeOf(of(type, {}))).toMatchObject({ state: 'other', headline, eventId: null });
  });

  it('name the event that they are about', () => {
    expect(noticeOf(of('rehearsal.v1', { eventId: 'E-1' })).eventId).toBe('E-1');
    expect(noticeOf(of('rehearsal.v1', { event: { eventId: 'E-2' } })).eventId).toBe('E-2');
  });
});

describe('a record that is not as it should be', () => {
  it('of a later version says what can be read of it', () => {
    const record = lastRecord(documentedLife);
    const later = { ...record, type: record.type.replace('.v1', '.v2') };
    expect(noticeOf(later)).toEqual(noticeOf(record));
  });

  it('without a time of its own goes by its timeline', () => {
    const { time: _, ...record } = lastRecord(lives.started);
    const { headline } = noticeOf(record as BridgeRecord);
    expect(headline).toBe(noticeOf(lastRecord(lives.started)).headline);
  });

  it('with nothing in it says what its type says', () => {
    const record: unknown = {
      type: 'io.github.scheduled-events-bridge.event.completed.v1',
      correlationid: 'e-1',
    };
    expect(linesOf(noticeOf(record as BridgeRecord))).toEqual([
      'completed, good',
      'Maintenance completed: Event of unknown type (length unknown) on a VM that Azure did not name, when is not known',
      'Maintenance completed: a VM that Azure did not name',
      'Event of unknown type (length unknown)',
      'VM: Not named by Azure',
      'Impact: Event of unknown type: length unknown',
      'Started by: Not said by Azure',
      '! The agent does not know the name of its VM yet, so whether the event names it is open.',
      '# e-1',
    ]);
  });

  it.each([null, undefined, 7, 'text', [], { type: [] }])('gives a notice for %j as well', (record) => {
    expect(noticeOf(record as unknown as BridgeRecord)).toMatchObject({ state: 'other', eventId: null });
  });

  it('still gives a notice whose every text is one line of bounded length, with nothing in it that cannot be seen', () => {
    fc.assert(
      fc.property(mangledRecords(), (record) => {
        const notice = noticeOf(record);
        expect(states).toContain(notice.state);
        const lines = [notice.headline, notice.title, notice.what, ...notice.remarks, notice.eventId ?? '-'];
        const values = notice.facts.flatMap(({ title, value }) => [title, value]);
        for (const text of [...lines, ...values, notice.description ?? '-']) {
          expect(text).not.toMatch(/^\s|\s$|\s\s|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}]/u);
          expect(text).not.toBe('');
        }
        expect(Math.max(...[...lines, ...values].map(({ length }) => length))).toBeLessThanOrEqual(2_000);
        expect(notice.description?.length ?? 0).toBeLessThanOrEqual(10_000);
      }),
      { numRuns: 1_000 },
    );
  });

  it('still has times that every calendar has, and links that lead nowhere but into the portal', () => {
    fc.assert(
      fc.property(mangledRecords(), (record) => {
        const { facts, portalUrl } = noticeOf(record);
        for (const { at, value } of facts) {
          if (at !== undefined) expect(value).toContain(new Date(at).toISOString().slice(0, 10));
        }
        for (const link of [portalUrl, ...facts.map((fact) => fact.link ?? null)]) {
          if (link !== null) {
            expect(link).toMatch(
              /^https:\/\/portal\.azure\.com\/#resource\/subscriptions\/[\w%.~/-]+\/overview$/i,
            );
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

const states = ['scheduled', 'updated', 'started', 'completed', 'canceled', 'deed', 'test', 'other'];
