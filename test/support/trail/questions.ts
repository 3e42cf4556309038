// What every store must answer to questions about the fleet.
import { expect, it } from 'vitest';
import type { EventQuery, TrailReader } from '../../../src/audit/store.ts';
import type { BridgeRecord } from '../../../src/core/record.ts';
import {
  asHubEvents,
  eventIdOf,
  freeze,
  liveMigration,
  observerOf,
  saying,
  synthesisAt,
  vmIdOf,
} from '../synthetic.ts';
import { approving, beating, feeling, hooking } from '../synthetic-deeds.ts';
import { append, type OpenWorld, other, stream } from './world.ts';

const hour = 3_600_000;
const key = (event: number): string => eventIdOf(event).toLowerCase();

export function answersQuestions(openWorld: OpenWorld): void {
  async function withTrail(records: readonly BridgeRecord[], ask: (reader: TrailReader) => Promise<void>) {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(records));
    await using reader = await world.reader();
    await ask(reader);
  }

  it('counts a hundred observers of one placement group as one event and three facts', () =>
    withTrail(Array.from({ length: 100 }, (_, vm) => liveMigration(0, vm)).flat(), async (reader) => {
      const events = await reader.events({ limit: 10 });
      expect(events).toHaveLength(1);
      expect(events[0]).toMatchObject({
        eventId: key(0),
        observers: 100,
        phaseObservers: { scheduled: 100, updated: 0, started: 100, completed: 100, canceled: 0 },
        vms: ['web-0', 'web-1'],
        firstSeenAt: synthesisAt,
        status: 'completed',
      });
      const facts = await reader.facts(eventIdOf(0));
      expect(facts.map(({ observers }) => observers)).toEqual([100, 100, 100]);
      expect(new Set(facts.map(({ id }) => id)).size).toBe(3);
      expect(await reader.counts()).toEqual({
        ...{ entries: 300, records: 300, repeats: 0, conflicts: 0 },
        ...{ parked: 0, events: 1, agents: 100 },
      });
    }));

  it('narrows events by type, time and VM, however it is spelled, the latest last', () => {
    const reboot = freeze(1, { eventType: 'Reboot', resources: ['_DB-1'] });
    const observer = { ...observerOf(7), vmName: 'db-1', resourceId: '/subscriptions/S/VM/db-1' };
    const records = [
      saying({ kind: 'scheduled', event: freeze(0) }),
      saying({ kind: 'scheduled', event: reboot, after: hour, vm: 7, observer }),
      saying({ kind: 'started', event: reboot, after: 2 * hour, vm: 7, sequence: 2 }),
      saying({ kind: 'scheduled', event: freeze(2), after: 3 * hour }),
      saying({ kind: 'scheduled', event: freeze(2), after: 3 * hour, vm: 9 }),
    ];
    const wanted: readonly (readonly [Partial<EventQuery>, readonly number[]])[] = [
      [{}, [0, 1, 2]],
      [{ type: 'reboot' }, [1]],
      [{ since: synthesisAt + 2 * hour }, [1, 2]],
      [{ until: synthesisAt + hour }, [0]],
      [{ since: synthesisAt + 1, until: synthesisAt + 3 * hour }, [1]],
      [{ limit: 2 }, [1, 2]],
      [{ vm: 'DB-1' }, [1]],
      [{ vm: '_db-1' }, [1]],
      [{ vm: vmIdOf(7).toUpperCase() }, [1]],
      [{ vm: '/SUBSCRIPTIONS/s/vm/DB-1' }, [1]],
      [{ vm: 'web-0', type: 'FREEZE' }, [0, 2]],
      [{ vm: 'web-9' }, []],
      [{ vm: vmIdOf(9) }, []],
      [{ vm: "'; DROP TABLE event; --" }, []],
    ];
    return withTrail(records, async (reader) => {
      for (const [query, events] of wanted) {
        const found = await reader.events({ limit: 10, ...query });
        expect(
          found.map(({ eventId }) => eventId),
          JSON.stringify(query),
        ).toEqual(events.map(key));
      }
    });
  });

  it('counts a VM that was installed anew, or was not known at first, once', () => {
    const unknown = { ...observerOf(0), vmId: null };
    const records = [
      saying({ kind: 'scheduled', vm: 0, observer: unknown }),
      saying({ kind: 'started', vm: 0, after: 1, sequence: 2 }),
      saying({ kind: 'completed', vm: 1, after: 2, observer: observerOf(0) }),
    ];
    return withTrail(records, async (reader) => {
      const [event] = await reader.events({ limit: 1 });
      expect(event).toMatchObject({
        observers: 1,
        phaseObservers: { scheduled: 1, started: 1, completed: 1 },
      });
    });
  });

  it('lists facts by their first time, and counts a source that says one in two versions once', () => {
    const record = saying({ kind: 'scheduled' });
    const version = { ...record, data: { ...record.data, noticeSeconds: 1 } };
    const others = [saying({ kind: 'scheduled', vm: 1, after: -5 }), ...liveMigration(1)];
    return withTrail([record, version, ...others], async (reader) => {
      expect(await reader.facts(eventIdOf(0))).toEqual([
        { id: record.id, type: record.type, eventId: key(0), observers: 2, firstAt: synthesisAt - 5 },
      ]);
      expect((await reader.facts()).map(({ eventId }) => eventId)).toEqual([key(0), key(1), key(1), key(1)]);
      expect(await reader.facts('nothing')).toEqual([]);
    });
  });

  it('gives the same answers whatever the order, the repetition and the streams of the same records', async () => {
    const facts = [0, 1].flatMap((event) => [0, 1, 2].flatMap((vm) => liveMigration(event, vm)));
    const orders = [facts, [...facts].reverse(), [...facts, ...facts.slice(2, 9)]];
    const seen = [];
    for (const [at, order] of orders.entries()) {
      await using world = await openWorld();
      await using trail = await world.open();
      await append(trail, asHubEvents(order.slice(0, 6)), at === 1 ? other : stream);
      await append(trail, asHubEvents(order.slice(6), 6), stream);
      await using reader = await world.reader();
      seen.push([await reader.events({ limit: 10 }), await reader.facts()]);
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });

  it('tells how far each partition has come, and nothing of its own streams', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration(), 5));
    await using reader = await world.reader();
    expect(await reader.streams()).toEqual([
      { name: stream, size: 3, lastSequenceNumber: 7, lastEnqueuedMs: synthesisAt + 7_000 },
    ]);
    await append(trail, asHubEvents(liveMigration(1), 8));
    expect(await reader.streams()).toMatchObject([{ size: 6, lastSequenceNumber: 10 }]);
  });

  it('tells only what is under way when that is asked for', () =>
    withTrail([...liveMigration(), saying({ kind: 'scheduled', event: freeze(1) })], async (reader) => {
      expect((await reader.events({ open: true, limit: 10 })).map(({ eventId }) => eventId)).toEqual([
        key(1),
      ]);
    }));

  it('knows of each agent its VM, what it says of itself, what it lacks, and whether its VM is gone', () => {
    const preempt = freeze(3, { eventType: 'Preempt', resources: ['WEB-1'], notBefore: null });
    const lastDocumentAt = new Date(synthesisAt - 4_000).toISOString();
    const seen = [{ eventId: eventIdOf(0), eventStatus: 'Started', firstSeenAt: lastDocumentAt }];
    const records = [
      beating({ source: { state: 'failing', lastDocumentAt }, document: { seen } }, { sequence: 1 }),
      saying({ kind: 'started', sequence: 4, after: hour }),
      beating({}, { vm: 1, sequence: 1 }),
      saying({ kind: 'scheduled', vm: 2, event: preempt, after: 60_000 }),
      saying({ kind: 'completed', vm: 2, event: preempt, after: 120_000, sequence: 2 }),
    ];
    return withTrail(records, async (reader) => {
      const [first, second, third] = await reader.agents();
      expect(first).toEqual({
        ...{ agentId: 'instance-0', version: '1.0.0', vmId: vmIdOf(0), vmName: 'web-0', vmScaleSet: 'web' },
        ...{ resourceId: null, location: null, zone: null, placementGroupId: null },
        ...{ faultDomain: '0', updateDomain: null, heartbeatIntervalMs: 3_600_000, pollIntervalMs: 1_000 },
        ...{ sourceState: 'failing', sourceAt: synthesisAt, lastDocumentAt: synthesisAt - 4_000 },
        seen: [{ eventId: key(0), eventStatus: 'Started', firstSeenAt: synthesisAt - 4_000 }],
        ...{ seenAt: synthesisAt, firstAt: synthesisAt, lastAt: synthesisAt + hour },
        ...{ missing: [[2, 3]], goneAt: null },
      });
      expect([second?.goneAt, third?.goneAt]).toEqual([synthesisAt + 120_000, null]);
    });
  });

  it('puts together what the timeline of an event is made of, and calls no deed a fact', async () => {
    const told = [
      beating({}, { vm: 3, after: -25 * hour }),
      beating({}, { vm: 2, after: -hour }),
      ...liveMigration(0, 1),
      approving({}, { vm: 1, after: 5, sequence: 9 }),
      hooking({ outcome: 'started' }, { sequence: 7 }),
      hooking({}, { sequence: 8, after: 1_200 }),
      feeling({ event: freeze(4) }),
      saying({ kind: 'scheduled', event: freeze(1), vm: 2, after: 1_900_000, sequence: 2 }),
      saying({ kind: 'scheduled', event: freeze(2), after: 3 * hour, sequence: 9 }),
    ];
    const notified = { kind: 'notified', sink: 'ops', type: 't', reason: null, attempts: 1 } as const;
    const settledAt = new Date(synthesisAt).toISOString();
    await using world = await openWorld();
    await using trail = await world.open({ now: () => synthesisAt + hour });
    await append(trail, asHubEvents(told), stream, [
      { ...notified, id: 'a', facts: [`${key(0)}_started`], outcome: 'delivered', settledAt },
      { ...notified, id: 'b', facts: [`${key(1)}_started`], outcome: 'delivered', settledAt },
    ]);
    await using reader = await world.reader();
    const parts = await reader.timeline(eventIdOf(0));
    expect(parts?.event).toMatchObject({ eventId: key(0), vms: ['web-0', 'web-1'], outcome: 'completed' });
    expect(parts?.tellings.map(({ agentId, transition }) => `${agentId} ${transition}`).sort()).toEqual([
      ...['instance-1 completed', 'instance-1 scheduled', 'instance-1 started'],
    ]);
    const deeds = parts?.deeds.map(({ agentId, firstAt, deed }) => [
      agentId,
      firstAt - synthesisAt,
      deed.family,
    ]);
    expect(deeds?.sort()).toEqual([
      ['instance-0', 0, 'hook'],
      ['instance-1', 5, 'approval'],
    ]);
    const heard = parts?.heard.toSorted((one, two) => (one.agentId < two.agentId ? -1 : 1));
    expect(heard).toEqual([
      { agentId: 'instance-0', before: synthesisAt, first: synthesisAt + 1_200, last: synthesisAt + 1_200 },
      { agentId: 'instance-1', before: synthesisAt + 1, first: synthesisAt + 5, last: synthesisAt + 960_001 },
      { agentId: 'instance-2', before: synthesisAt - hour, first: null, last: null },
    ]);
    expect(parts?.agents).toHaveLength(4);
    expect(parts?.others.map(({ eventId }) => eventId)).toEqual([key(1)]);
    expect(parts?.notices).toMatchObject([{ id: 'a', sink: 'ops' }]);
    expect(await reader.timeline(eventIdOf(4))).toBeNull();
    const [beginning, all] = [key(0).slice(0, -1), [key(0), key(1), key(2)]];
    expect(await reader.eventIds(beginning.toUpperCase(), 5)).toEqual(all);
    expect(await reader.eventIds(beginning, 2)).toEqual(all.slice(0, 2));
    expect(await reader.eventIds(key(1), 5)).toEqual([key(1)]);
    expect(await reader.eventIds(`${key(0).slice(0, 8)}%`, 5)).toEqual([]);
    expect((await reader.facts(eventIdOf(0))).map(({ type }) => type.split('.').at(-2))).toEqual([
      ...['scheduled', 'started', 'completed'],
    ]);
  });
}
