// What is told of a whole fleet: a fact once for all of its VMs, a wave and how far it has come, and who fell silent.
import { describe, expect, it } from 'vitest';
import type { FleetFact } from '../../../src/core/fleet-fact.ts';
import {
  fleetRecord,
  type SilenceChange,
  silenceRecord,
  waveRecord,
} from '../../../src/core/fleet-record.ts';
import { noticeOf } from '../../../src/core/notice.ts';
import type { BridgeRecord } from '../../../src/core/record.ts';
import { encodeRecord } from '../../../src/core/record.ts';
import { slackMessageOf } from '../../../src/sinks/slack/message.ts';
import { cardBody } from '../../../src/sinks/teams/card.ts';
import {
  domainOf,
  fleetFact,
  fleetSpeaker,
  fleetVm,
  folded,
  lifeOf,
  onlyWave,
  rollingFacts,
  soonAfter,
} from '../../support/fleet-facts.ts';
import { linesOf } from '../../support/notices.ts';
import { brokenLimits, type CheckedMessage } from '../../support/slack-limits.ts';

const told = (record: BridgeRecord): string[] => linesOf(noticeOf(record));
/** As it is told a second after the last of these facts, unless said otherwise. */
const waveOf = (facts: readonly FleetFact[], at = Math.max(...facts.map(soonAfter))) =>
  waveRecord(onlyWave(folded(facts)), at, fleetSpeaker());

/** As it goes over the wire. */
const posted = (message: object): CheckedMessage => JSON.parse(JSON.stringify(message));

const inferred = '! Inferred: Azure removes an event that is over, and does not say how it ended.';
const ids = (count: number): string =>
  Array.from({ length: count }, (_, event) => `C7061BAC-AFDC-4513-B24B-00000000000${event}`).join(', ');

describe('a fact that is told for the whole fleet', () => {
  it('names every VM, where they are, how many told of it and who did not', () => {
    const missing = [{ name: 'web-10', reason: 'silent' }];
    const fact = fleetFact({ kind: 'scheduled', more: { observers: 14, missing } });
    expect(told(fleetRecord(fact, fleetSpeaker()))).toEqual([
      'scheduled, announced',
      'Maintenance scheduled: Freeze (about 5 s) on web-0 and 2 more VMs, not before 2026-11-10 22:15:00 UTC',
      'Maintenance scheduled: web-0 and 2 more VMs',
      'Freeze (about 5 s)',
      'VMs: web-0, web-5, web-10',
      'Impact: Freeze: paused, about 5 s',
      'Not before: 2026-11-10 22:15:00 UTC (1794348900000)',
      'Started by: Azure platform',
      'Approval: Not approved: starts by itself at or after 2026-11-10 22:15:00 UTC, sooner if approved',
      'Location: norwaywest',
      'Scale set: web',
      'Fault domain: 0',
      'Told by: 14 VMs',
      'Did not tell: web-10 (silent)',
      '"Host server is undergoing maintenance."',
      '# C7061BAC-AFDC-4513-B24B-000000000000',
    ]);
  });

  it('leads to the VM in the portal where there is one alone', () => {
    const lines = told(fleetRecord(fleetFact({ kind: 'started', vms: [fleetVm(3)] }), fleetSpeaker()));
    const page = fleetVm(3).resourceId;
    expect(lines).toContain('VM: web-3 →');
    expect(lines).toContain(`→ https://portal.azure.com/#resource${page}/overview`);
  });

  it('keeps what the first witness said, and speaks in the name of the trail', () => {
    const fact = fleetFact({ kind: 'started' });
    const { data, ...attributes } = fleetRecord(fact, fleetSpeaker(7));
    const { id, type, time, correlationid, severitytext } = fact.record;
    expect(attributes).toMatchObject({ id, type, time, correlationid, severitytext });
    expect(attributes).toMatchObject({ source: fleetSpeaker().source, sequence: '00000000000000000007' });
    expect(attributes).not.toHaveProperty('subject');
    expect(data).toMatchObject({ event: fact.record.data.event, timeline: fact.record.data.timeline });
    expect(data).toMatchObject({ affected: null, observer: { vmName: null }, agent: { sequence: 7 } });
    expect(data.fleet).toEqual({
      vms: fact.vms,
      observers: 15,
      missing: [],
      firstWitness: fact.record.source,
    });
  });
});

describe('the notice of a wave', () => {
  it('with one event reads as the notice of that event, through its whole life', () => {
    const life = lifeOf(0);
    life.forEach((fact, index) => {
      const own = noticeOf(fleetRecord(fact, fleetSpeaker()));
      expect(noticeOf(waveOf(life.slice(0, index + 1)))).toEqual(own);
    });
    // What comes late is not what it shows.
    expect(noticeOf(waveOf(life.toReversed()))).toEqual(noticeOf(waveOf(life)));
  });

  it('in progress says how many VMs are done, are at it and are to come, and when the next may start', () => {
    const facts = [...lifeOf(0), ...lifeOf(1, 20).slice(0, 2), ...lifeOf(2, 33).slice(0, 1)];
    expect(told(waveOf(facts))).toEqual([
      'started, ongoing',
      'Maintenance in progress: Freeze (about 5 s) on scale set web: 3 of 9 VMs done, 3 in progress, 3 to come, next not before 2026-11-10 22:55:00 UTC',
      'Maintenance in progress: scale set web',
      'Freeze (about 5 s)',
      'Done (3): web-0, web-5, web-10',
      'In progress (3): web-1, web-6, web-11',
      'To come (3): web-2, web-7, web-12',
      'Fault domains: FD 0 done, FD 1 in progress, FD 2 to come',
      'Impact: Freeze: paused, about 5 s',
      'Next not before: 2026-11-10 22:55:00 UTC (1794351300000)',
      'First announced: 2026-11-10 22:00:00 UTC (1794348000000)',
      'First started: 2026-11-10 22:15:00 UTC (1794348900000)',
      'Started by: Azure platform',
      'Location: norwaywest',
      `Events: 3: ${ids(3)}`,
      inferred,
    ]);
  });

  it('names no time that has passed as the next one: an announced event may vanish with its witnesses', () => {
    const [vanished, coming] = [fleetFact({ kind: 'scheduled', event: 1, after: 1 }), lifeOf(2, 30)[0]];
    const facts = [...lifeOf(0).slice(0, 2), vanished, ...(coming ? [coming] : [])];
    const at = (time: string) => Date.parse(`2026-11-10T${time}Z`);
    const [before, between, after] = ['22:20:00', '22:40:00', '23:00:00'].map((time) =>
      told(waveOf(facts, at(time))).filter((line) => /not before/i.test(line)),
    );
    expect(before).toEqual([
      expect.stringContaining('next not before 2026-11-10 22:35:00 UTC'),
      expect.stringContaining('Next not before: 2026-11-10 22:35:00 UTC'),
    ]);
    expect(between).toEqual([
      expect.stringContaining('next not before 2026-11-10 22:55:00 UTC'),
      expect.stringContaining('Next not before: 2026-11-10 22:55:00 UTC'),
    ]);
    expect(after).toEqual([]);
  });

  it('of two VMs says both, and of two that differ counts them', () => {
    const pair = (kind: 'scheduled' | 'started', event: number) =>
      fleetFact({ kind, event, vms: [fleetVm(event)] });
    const announced = [pair('scheduled', 0), pair('scheduled', 1)];
    const headlines = [announced, [...announced, pair('started', 0)]].map(
      (facts) => noticeOf(waveOf(facts)).headline,
    );
    expect(headlines).toEqual([
      expect.stringContaining(': both VMs to come, not before'),
      expect.stringContaining(': 1 of 2 VMs in progress, 1 to come'),
    ]);
  });

  it('that is over says so of all VMs, and that nobody but us says it', () => {
    expect(told(waveOf(rollingFacts()))).toEqual([
      'completed, good',
      'Maintenance completed: Freeze (about 5 s) on scale set web: all 15 VMs done, finished by 2026-11-10 23:38:00 UTC (inferred)',
      'Maintenance completed: scale set web',
      'Freeze (about 5 s)',
      'Done (15): web-0, web-1, web-2, web-3, web-4, web-5, web-6, web-7, web-8, web-9, web-10, web-11, web-12, web-13, web-14',
      'Fault domains: FD 0 done, FD 1 done, FD 2 done, FD 3 done, FD 4 done',
      'Impact: Freeze: paused, about 5 s',
      'First announced: 2026-11-10 22:00:00 UTC (1794348000000)',
      'First started: 2026-11-10 22:15:00 UTC (1794348900000)',
      'Finished by: 2026-11-10 23:38:00 UTC (1794353880000)',
      'Started by: Azure platform',
      'Location: norwaywest',
      `Events: 5: ${ids(5)}`,
      inferred,
    ]);
  });

  it('that is called off says so, also where a part of it ran', () => {
    const off = [0, 1].map((event) => fleetFact({ kind: 'canceled', event, after: 8 }));
    const headlines = [off, [...lifeOf(2, 0), ...off]].map((facts) => noticeOf(waveOf(facts)).headline);
    expect(headlines).toEqual([
      'Maintenance canceled: Freeze (about 5 s) on scale set web: all 6 VMs called off, gone by 2026-11-10 22:08:00 UTC (inferred)',
      'Maintenance completed: Freeze (about 5 s) on scale set web: 3 of 9 VMs done, 6 called off, finished by 2026-11-10 22:18:00 UTC (inferred)',
    ]);
  });

  it('says who did not tell, and what is in doubt', () => {
    const missing = [{ name: 'web-7', reason: 'silent' }];
    const doubtful = fleetFact({ kind: 'completed', after: 16 });
    const reason = 'start-not-observed' as const;
    const record = { ...doubtful.record, data: { ...doubtful.record.data, reason } };
    const facts = [
      { ...doubtful, record },
      fleetFact({ kind: 'scheduled', event: 1, after: 2, more: { missing } }),
    ];
    const lines = told(waveOf(facts));
    expect(lines).toContain('Did not tell: web-7 (silent)');
    expect(lines).toContain('! In doubt: nobody saw 1 event start, which most likely ran.');
  });

  it('is alarming when VMs lose what is on them, and says what it does', () => {
    const change = { eventType: 'Redeploy', durationSeconds: null };
    const facts = [0, 1].map((event) => fleetFact({ kind: 'scheduled', event, change }));
    const { tone, headline } = noticeOf(waveOf(facts));
    expect(tone).toBe('alarming');
    expect(headline).toMatch(
      /^Maintenance scheduled: Redeploy \(moved to other hardware.*: all 6 VMs to come, not before/,
    );
  });
});

describe('500 VMs', () => {
  const names = Array.from({ length: 500 }, (_, vm) => fleetVm(vm));
  const quarter = (event: number) => names.slice(event * 125, (event + 1) * 125);
  const facts = [0, 1, 2, 3].flatMap((event) =>
    lifeOf(event, 5 * event, { vms: quarter(event) }).slice(0, 4 - event),
  );
  const records = {
    wave: waveOf(facts),
    fact: fleetRecord(fleetFact({ kind: 'scheduled', vms: names }), fleetSpeaker()),
  };

  it('stand whole in the record, and in a notice as far as there is room, which says how many more there are', () => {
    expect(records.wave.data.wave.vms).toHaveLength(500);
    expect(records.fact.data.fleet.vms).toHaveLength(500);
    const done = noticeOf(records.wave).facts.find(({ title }) => title === 'Done (250)')?.value ?? '';
    const [shown = '', more] = done.split(/ and (\d+) more VMs$/);
    expect(shown.split(', ').length + Number(more)).toBe(250);
    expect(shown.split(', ').length).toBeGreaterThan(90);
  });

  it.each(Object.entries(records))('fit into Slack and Teams: a %s', (_, record) => {
    const notice = noticeOf(record);
    expect(brokenLimits(posted(slackMessageOf(notice, '<!channel>')))).toEqual([]);
    expect(JSON.stringify(slackMessageOf(notice, null))).not.toContain('shortened');
    expect(cardBody(notice).length).toBeLessThan(20_000);
    expect(cardBody(notice).toString()).not.toContain('Shortened');
  });

  it('make a record that every receiver takes', () => {
    expect(encodeRecord(records.wave).length).toBeLessThan(100_000);
    expect(encodeRecord(records.fact).length).toBeLessThan(256_000);
  });
});

describe('the notice of silence', () => {
  const at = Date.parse('2026-11-10T22:30:00Z');
  const vm = (name: string, since: string | null) => ({ name, vmId: null, since, expectedBy: null });
  const noticed = (change: SilenceChange) => told(silenceRecord(change, at, fleetSpeaker()));

  it('names who is silent, and since when', () => {
    const vms = [vm('web-1', '2026-11-10T22:10:00Z'), vm('web-2', null)];
    expect(noticed({ state: 'silent', vms })).toEqual([
      'other, announced',
      '2 VMs are silent: web-1 (last heard 2026-11-10 22:10:00 UTC), web-2 (never heard)',
      '2 VMs are silent: web-1, web-2',
      '2 VMs are silent',
      'Silent: web-1 (last heard 2026-11-10 22:10:00 UTC), web-2 (never heard)',
      'Noticed: 2026-11-10 22:30:00 UTC (1794349800000)',
      '! Their agents send nothing, not even that they watch: the VM may be down, or the agent, or its way to the hub. Nobody there would tell of maintenance now.',
    ]);
  });

  it.each([
    ['silent', 'Its agent sends nothing, not even that it watches', 'Their agents send nothing'],
    ['heard', 'What its agent kept on disk', 'What their agents kept on disk'],
    ['asleep', 'Its agent is there, but the metadata service gives it no document', 'Their agents are there'],
    ['awake', 'The metadata service answers its agent again', 'answers their agents again'],
  ] as const)('says what it means of one VM that is %s in other words than of two', (state, one, several) => {
    const lastLine = (...names: string[]) =>
      noticed({ state, vms: names.map((name) => vm(name, null)) }).at(-1);
    expect(lastLine('web-1')).toContain(one);
    expect(lastLine('web-1', 'web-2')).toContain(several);
  });

  it.each([
    ['heard', '1 VM is heard again: web-1 (silent since 2026-11-10 22:10:00 UTC)'],
    ['asleep', '1 VM cannot see scheduled events: web-1 (last seen 2026-11-10 22:10:00 UTC)'],
    ['awake', '1 VM sees scheduled events again: web-1 (could not since 2026-11-10 22:10:00 UTC)'],
  ] as const)('tells who is %s', (state, headline) => {
    expect(noticed({ state, vms: [vm('web-1', '2026-11-10T22:10:00Z')] })[1]).toBe(headline);
  });

  it('of 500 VMs is short, counts all of them, and is never taken for another one', () => {
    const vms = domainOf(0).concat(Array.from({ length: 497 }, (_, index) => fleetVm(100 + index)));
    const change: SilenceChange = { state: 'silent', vms: vms.map(({ name }) => vm(name, null)) };
    const notice = noticeOf(silenceRecord(change, at, fleetSpeaker()));
    expect(notice.headline).toMatch(/^500 VMs are silent: .* and \d+ more VMs$/);
    expect(notice.headline.length).toBeLessThan(400);
    expect(brokenLimits(posted(slackMessageOf(notice, null)))).toEqual([]);
    const records = [at, at + 1].map((when) => silenceRecord(change, when, fleetSpeaker()).id);
    expect(new Set(records).size).toBe(2);
  });
});
