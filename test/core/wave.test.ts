// What belongs together for a person: which facts make one wave, in whatever order they come, and how much one holds.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TransitionKind } from '../../src/core/diff.ts';
import type { FleetFact } from '../../src/core/fleet-fact.ts';
import { waveRecord } from '../../src/core/fleet-record.ts';
import { foldWave, type Wave, waveLimits } from '../../src/core/wave.ts';
import { viewOf } from '../../src/core/wave-view.ts';
import {
  domainOf,
  type FleetSaying,
  fleetFact,
  fleetSpeaker,
  fleetVm,
  folded,
  lifeOf,
  onlyWave,
  rollingFacts,
  soonAfter,
} from '../support/fleet-facts.ts';

const lastOf = (waves: readonly Wave[]): Wave => {
  const wave = waves.at(-1);
  if (wave === undefined) throw new Error('there is no wave');
  return wave;
};

/** What a wave knows, without the name and the count that the order of its facts gave it. */
const knownIn = ({ id: _, version: _version, changedAt: _changed, ...known }: Wave) => known;

const kinds = ['scheduled', 'updated', 'started', 'completed', 'canceled'] as const;

/** Facts about a few events, most of them close in time, now and then of another type or place. */
const anyFacts = (): fc.Arbitrary<readonly FleetFact[]> =>
  fc.array(
    fc
      .record({
        kind: fc.constantFrom(...kinds),
        event: fc.nat({ max: 6 }),
        after: fc.oneof(fc.nat({ max: 120 }), fc.nat({ max: 4_000 })),
        reboot: fc.nat({ max: 5 }),
        known: fc.nat({ max: 5 }),
      })
      .map(({ reboot, known, ...saying }) =>
        fleetFact({
          ...saying,
          change: reboot === 0 ? { eventType: 'Reboot' } : {},
          vms:
            known === 0
              ? domainOf(saying.event).map((vm) => ({ ...vm, vmScaleSet: null }))
              : domainOf(saying.event),
        }),
      ),
    { maxLength: 25 },
  );

const shuffled = <Item>(items: readonly Item[]): fc.Arbitrary<Item[]> =>
  fc.shuffledSubarray([...items], { minLength: items.length });

describe('a wave', () => {
  it('takes in the fault domains of a set one after another, and counts where their VMs stand', () => {
    const facts = rollingFacts();
    const counts = facts.map((_, index) => viewOf(onlyWave(folded(facts.slice(0, index + 1))), 0).counts);
    expect(counts.map(({ completed, started, scheduled }) => [completed, started, scheduled])).toEqual([
      ...[
        [0, 0, 3],
        [0, 3, 0],
        [3, 0, 0],
      ],
      ...[
        [3, 0, 3],
        [3, 3, 0],
        [6, 0, 0],
      ],
      ...[
        [6, 0, 3],
        [6, 3, 0],
        [9, 0, 0],
      ],
      ...[
        [9, 0, 3],
        [9, 3, 0],
        [12, 0, 0],
      ],
      ...[
        [12, 0, 3],
        [12, 3, 0],
        [15, 0, 0],
      ],
    ]);
  });

  it('takes in a burst of events of one group, whose VMs belong to no set', () => {
    const vms = (event: number) => [
      fleetVm(event, {
        vmScaleSet: null,
        resourceId:
          fleetVm(event).resourceId?.replace(/virtualMachineScaleSets.*$/, `virtualMachines/web-${event}`) ??
          null,
      }),
    ];
    const facts = [0, 1, 2, 3].map((event) =>
      fleetFact({ kind: 'scheduled', event, after: event, vms: vms(event) }),
    );
    expect(onlyWave(folded(facts)).scope).toMatchObject({ resourceGroup: 'rg-web', location: 'norwaywest' });
  });

  it.each<[string, Partial<FleetSaying>]>([
    ['type', { change: { eventType: 'Reboot' } }],
    ['source', { change: { eventSource: 'User' } }],
    ['set', { vms: [fleetVm(1, { vmScaleSet: 'db' })] }],
    ['subscription', { vms: [fleetVm(1, { resourceId: '/subscriptions/2/resourceGroups/rg-web/x' })] }],
  ])('keeps apart what is of another %s', (_, other) => {
    const [one, two] = [
      fleetFact({ kind: 'scheduled' }),
      fleetFact({ kind: 'scheduled', event: 1, ...other }),
    ];
    expect(folded([one, two])).toHaveLength(2);
  });

  it('does not care how a type, a source and a place are spelled', () => {
    const change = { eventType: 'FREEZE', eventSource: 'platform' };
    const vms = [fleetVm(1, { vmScaleSet: 'WEB' })];
    expect(
      folded([fleetFact({ kind: 'scheduled' }), fleetFact({ kind: 'scheduled', event: 1, change, vms })]),
    ).toHaveLength(1);
  });

  it('is about one event alone when nothing is known of the VMs', () => {
    const nothing = {
      vmId: null,
      resourceId: null,
      location: null,
      vmScaleSet: null,
      placementGroupId: null,
    };
    const facts = [0, 1].map((event) =>
      fleetFact({ kind: 'scheduled', event, vms: [fleetVm(event, nothing)] }),
    );
    expect(folded(facts).map(({ scope }) => scope)).toEqual([null, null]);
  });

  it.each([
    ['30 minutes after its last event ended', 48, 1],
    ['31 minutes after its last event ended', 49, 2],
  ])('is open for what is announced %s, or is not', (_, after, waves) => {
    expect(folded([...lifeOf(0), fleetFact({ kind: 'scheduled', event: 1, after })])).toHaveLength(waves);
  });

  it.each([
    ['a day', 24 * 60, 1],
    ['more than a day', 24 * 60 + 1, 2],
  ])('that has had no news for %s takes in another event, or does not', (_, after, waves) => {
    const facts = [fleetFact({ kind: 'scheduled' }), fleetFact({ kind: 'scheduled', event: 1, after })];
    expect(folded(facts)).toHaveLength(waves);
  });

  it('judges by when things happened: what lay in a hub for a week does not become one wave', () => {
    const now = soonAfter(fleetFact({ kind: 'scheduled', after: 14_000 }));
    const week = [lifeOf(0, 0), lifeOf(1, 3_000), lifeOf(2, 6_000)].flat();
    const waves = week.reduce<readonly Wave[]>((before, fact) => foldWave(before, fact, now).waves, []);
    expect(waves.map(({ events }) => Object.keys(events).length)).toEqual([1, 1, 1]);
  });

  it('is one wave also when the partitions of a hub are caught up one after another, in whatever order', () => {
    const lives = [0, 1, 2, 3, 4].map((event) => lifeOf(event));
    const now = soonAfter(fleetFact({ kind: 'scheduled', after: 300 }));
    fc.assert(
      fc.property(shuffled(lives), (turned) => {
        const waves = turned
          .flat()
          .reduce<readonly Wave[]>((before, fact) => foldWave(before, fact, now).waves, []);
        expect(viewOf(onlyWave(waves), 0)).toMatchObject({ state: 'completed', counts: { completed: 15 } });
      }),
      { numRuns: 30 },
    );
  });

  it('gets the late facts of its own events, also when it is over', () => {
    const [scheduled, started, completed] = lifeOf(0);
    if (!scheduled || !started || !completed) throw new Error('a life has three facts');
    const late = folded([started, completed, ...lifeOf(1), scheduled]);
    expect(viewOf(onlyWave(late), 0)).toMatchObject({
      state: 'completed',
      counts: { completed: 6, scheduled: 0 },
    });
  });

  it('gets them also when another wave has begun since', () => {
    const late = fleetFact({ kind: 'updated', after: 5, change: { durationSeconds: 9 } });
    const waves = folded([...lifeOf(0), ...lifeOf(1, 200), late]);
    expect(waves.map(({ events }) => Object.values(events).map(({ eventId }) => eventId.at(-1)))).toEqual([
      ['1'],
      ['0'],
    ]);
  });

  it('is not brought back by an announcement that comes after the start', () => {
    const [scheduled, started] = lifeOf(0);
    if (!scheduled || !started) throw new Error('a life has three facts');
    expect(viewOf(onlyWave(folded([started, scheduled])), 0).state).toBe('started');
  });

  it('is changed by nothing that it has folded before', () => {
    fc.assert(
      fc.property(anyFacts(), (facts) => {
        let waves: readonly Wave[] = [];
        for (const fact of facts) {
          const first = foldWave(waves, fact, soonAfter(fact));
          const again = foldWave(first.waves, structuredClone(fact), soonAfter(fact) + 1);
          expect(again).toEqual({ waves: first.waves, waveId: first.waveId, changed: false });
          waves = first.waves;
        }
      }),
      { numRuns: 60 },
    );
  });

  it('comes out the same in whatever order the facts of one event come', () => {
    const of = (kind: TransitionKind, index: number) =>
      fleetFact({
        kind,
        after: index * 5,
        vms: [fleetVm(0), fleetVm(index)],
        more: { missing: [{ name: kind, reason: 'silent' }] },
      });
    // Only these can be two facts of one event.
    const other = (kind: TransitionKind) => fleetFact({ kind, after: 9, change: { durationSeconds: 30 } });
    const life = [...kinds.map(of), other('scheduled'), other('updated')];
    fc.assert(
      fc.property(
        fc.subarray(life, { minLength: 1 }).chain((some) => fc.tuple(fc.constant(some), shuffled(some))),
        ([some, turned]) => {
          expect(knownIn(onlyWave(folded(turned)))).toEqual(knownIn(onlyWave(folded(some))));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('names every VM of every fact, whatever is said, and survives being written down', () => {
    fc.assert(
      fc.property(anyFacts(), (facts) => {
        let waves: readonly Wave[] = [];
        for (const fact of facts) {
          const { waves: next, waveId } = foldWave(JSON.parse(JSON.stringify(waves)), fact, soonAfter(fact));
          expect(next).toEqual(foldWave(waves, fact, soonAfter(fact)).waves);
          const home = next.find(({ id }) => id === waveId);
          if (home === undefined) throw new Error('a fact has a wave');
          const { vms, counts } = viewOf(home, 0);
          expect(vms.map(({ name }) => name)).toEqual(
            expect.arrayContaining(fact.vms.map(({ name }) => name)),
          );
          expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(vms.length);
          waves = next;
        }
      }),
      { numRuns: 40 },
    );
  });

  it.each(['constructor', '__proto__', 'toString'])('takes in an event of the id %s', (eventId) => {
    const fact = fleetFact({ kind: 'scheduled', change: { eventId } });
    const { waves } = foldWave(folded(lifeOf(1)), fact, soonAfter(fact));
    expect(viewOf(lastOf(waves), 0).events.map((event) => event.eventId)).toContain(eventId);
  });
});

describe('the limits of waves:', () => {
  it('the 501st event begins another one', () => {
    const facts = Array.from({ length: waveLimits.events + 1 }, (_, event) =>
      fleetFact({ kind: 'scheduled', event, vms: [fleetVm(event % 5)] }),
    );
    expect(folded(facts).map(({ events }) => Object.keys(events).length)).toEqual([waveLimits.events, 1]);
  }, 20_000);

  it('an event whose VMs find no room begins another one', () => {
    const many = (from: number) => Array.from({ length: 2_600 }, (_, index) => fleetVm(from + index));
    const facts = [0, 1].map((event) => fleetFact({ kind: 'scheduled', event, vms: many(event * 2_600) }));
    expect(folded(facts).map(({ vms }) => Object.keys(vms).length)).toEqual([2_600, 2_600]);
  });

  it('of more than a thousand waves those that changed last stay', () => {
    const facts = Array.from({ length: waveLimits.waves + 2 }, (_, event) =>
      fleetFact({
        kind: 'scheduled',
        event,
        after: event / 100,
        vms: [fleetVm(event, { vmScaleSet: `set-${event}` })],
      }),
    );
    const waves = folded(facts);
    expect(waves).toHaveLength(waveLimits.waves);
    expect([waves.at(0), waves.at(-1)].map((wave) => wave?.scope?.vmScaleSet)).toEqual(['set-2', 'set-1001']);
  }, 20_000);

  it.each([
    ['a day after its last news', null, 24 * 60 + 18, 2],
    ['no longer', null, 24 * 60 + 19, 1],
    ['as long as it waits for a start that Azure named', '2026-11-15T22:00:00Z', 5 * 24 * 60, 2],
  ])('a wave is remembered %s', (_, notBefore, after, waves) => {
    const first = notBefore
      ? [fleetFact({ kind: 'scheduled', after: 18, change: { notBefore } })]
      : lifeOf(0);
    const other = fleetFact({ kind: 'scheduled', event: 1, after, vms: [fleetVm(1, { vmScaleSet: 'db' })] });
    expect(folded([...first, other])).toHaveLength(waves);
  });
});

describe('the news of a wave', () => {
  const newsOf = (facts: readonly FleetFact[]) => viewOf(onlyWave(folded(facts)), 0).news;

  it('are its start, its end, and what is announced after that', () => {
    const facts = rollingFacts();
    expect(newsOf(facts.slice(0, 1))).toEqual([]);
    expect(newsOf(facts.slice(0, 4))).toEqual(['started', 'over-1', 'announced-2']);
    expect(newsOf(facts)).toHaveLength(10);
  });

  it('are one start and one end when fault domains follow each other without a gap', () => {
    expect(newsOf([lifeOf(0, 0), lifeOf(1, 18), lifeOf(2, 30)].flat())).toEqual(['started', 'over-1']);
  });

  it('are few, however many events there are', () => {
    const burst = Array.from({ length: 30 }, (_, event) => lifeOf(event, 0)).flat();
    expect(newsOf(burst)).toEqual(['started', 'over-1']);
  });

  it('tell when it asks more of people than it did', () => {
    const longer = fleetFact({ kind: 'updated', after: 3, change: { durationSeconds: 60 } });
    expect(newsOf([fleetFact({ kind: 'scheduled' }), longer])).toContain('severity-WARN');
  });
});

describe('the record of a wave', () => {
  it('has an id of its own for each change, which leads to the wave by all before its underscore', () => {
    const facts = rollingFacts();
    const records = facts.map((_, index) =>
      waveRecord(onlyWave(folded(facts.slice(0, index + 1))), 0, fleetSpeaker(index)),
    );
    expect(new Set(records.map(({ id }) => id)).size).toBe(facts.length);
    for (const { id, correlationid, partitionkey } of records) {
      expect(id).toMatch(/^wave-[a-z0-9]{24}_wave_\d+$/);
      expect([correlationid, partitionkey]).toEqual([id.split('_')[0], id.split('_')[0]]);
    }
  });

  it('weighs as much as its worst event that is not over', () => {
    const long = { change: { durationSeconds: 60 } };
    const facts = [...lifeOf(0, 0, long), ...lifeOf(1, 20).slice(0, 1), ...lifeOf(2, 21, long).slice(0, 1)];
    const weights = facts.map((_, index) => {
      const wave = onlyWave(folded(facts.slice(0, index + 1)));
      return waveRecord(wave, 0, fleetSpeaker()).severitytext;
    });
    expect(weights).toEqual(['WARN', 'WARN', 'INFO', 'INFO', 'WARN']);
  });
});
