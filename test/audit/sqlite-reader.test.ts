// Questions to the trail: which events, whoever saw them.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import { type EventQuery, emptyStream, type TrailReader } from '../../src/audit/store.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import {
  asHubEvents,
  eventIdOf,
  freeze,
  liveMigration,
  observerOf,
  saying,
  synthesisAt,
  vmIdOf,
} from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

async function withTrail(records: readonly BridgeRecord[], ask: (reader: TrailReader) => Promise<void>) {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using trail = openSqliteTrail(path);
  await trail.append('ns/hub/0/epoch', emptyStream, asHubEvents(records));
  await using reader = openSqliteReader(path);
  await ask(reader);
}

const hour = 3_600_000;
const key = (event: number): string => eventIdOf(event).toLowerCase();

test('a hundred observers of one placement group are one event and three facts with a hundred observers', () =>
  withTrail(Array.from({ length: 100 }, (_, vm) => liveMigration(0, vm)).flat(), async (reader) => {
    const events = await reader.events({ limit: 10 });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      eventId: key(0),
      observers: 100,
      phaseObservers: { scheduled: 100, updated: 0, started: 100, completed: 100, canceled: 0 },
      vms: ['web-0', 'web-1'],
      firstSeenAt: synthesisAt,
    });
    const facts = await reader.facts(eventIdOf(0));
    expect(facts.map(({ observers }) => observers)).toEqual([100, 100, 100]);
    expect(new Set(facts.map(({ id }) => id)).size).toBe(3);
    expect(await reader.counts()).toMatchObject({ entries: 300, records: 300, events: 1, agents: 100 });
  }));

test('a VM that its agent did not know at first, or that was installed anew, is one observer', () => {
  const unknown = { ...observerOf(0), vmId: null };
  const records = [
    saying({ kind: 'scheduled', vm: 0, observer: unknown }),
    saying({ kind: 'started', vm: 0, after: 1, sequence: 2 }),
    saying({ kind: 'completed', vm: 1, after: 2, observer: observerOf(0) }),
  ];
  return withTrail(records, async (reader) => {
    const [event] = await reader.events({ limit: 1 });
    expect(event).toMatchObject({ observers: 1, phaseObservers: { scheduled: 1, started: 1, completed: 1 } });
  });
});

test('events are narrowed by type, time and VM, and the latest come last', () => {
  const reboot = freeze(1, { eventType: 'Reboot', resources: ['_DB-1'] });
  const records = [
    saying({ kind: 'scheduled', event: freeze(0) }),
    saying({
      kind: 'scheduled',
      event: reboot,
      after: hour,
      vm: 7,
      observer: { ...observerOf(7), vmName: 'db-1' },
    }),
    saying({ kind: 'started', event: reboot, after: 2 * hour, vm: 7, sequence: 2 }),
    saying({ kind: 'scheduled', event: freeze(2), after: 3 * hour }),
    saying({ kind: 'scheduled', event: freeze(2), after: 3 * hour, vm: 9 }),
  ];
  const idsFor = async (reader: TrailReader, query: Partial<EventQuery>) =>
    (await reader.events({ limit: 10, ...query })).map(({ eventId }) => eventId);
  return withTrail(records, async (reader) => {
    expect(await idsFor(reader, {})).toEqual([key(0), key(1), key(2)]);
    expect(await idsFor(reader, { type: 'reboot' })).toEqual([key(1)]);
    expect(await idsFor(reader, { since: synthesisAt + 2 * hour })).toEqual([key(1), key(2)]);
    expect(await idsFor(reader, { until: synthesisAt + hour })).toEqual([key(0)]);
    expect(await idsFor(reader, { since: synthesisAt + 1, until: synthesisAt + 3 * hour })).toEqual([key(1)]);
    expect(await idsFor(reader, { limit: 2 })).toEqual([key(1), key(2)]);
    expect(await idsFor(reader, { vm: 'DB-1' })).toEqual([key(1)]);
    expect(await idsFor(reader, { vm: vmIdOf(7).toUpperCase() })).toEqual([key(1)]);
    expect(await idsFor(reader, { vm: 'web-9' })).toEqual([]);
    expect(await idsFor(reader, { vm: vmIdOf(9) })).toEqual([]);
  });
});

test('a source that says one fact in two versions is one observer', () => {
  const record = saying({ kind: 'scheduled' });
  const other = { ...record, data: { ...record.data, noticeSeconds: 1 } };
  return withTrail([record, other], async (reader) => {
    expect((await reader.facts()).map(({ observers }) => observers)).toEqual([1]);
  });
});

test('streams tell how far each partition has come', () =>
  withTrail(liveMigration(), async (reader) => {
    expect(await reader.streams()).toEqual([
      { name: 'ns/hub/0/epoch', size: 3, lastSequenceNumber: 2, lastEnqueuedMs: synthesisAt + 2_000 },
    ]);
  }));

test('a VM is shown as it is spelled, and found however it is spelled', () => {
  const spelled = (kind: 'scheduled' | 'started', resources: readonly string[], sequence: number) =>
    saying({ kind, vm: 0, sequence, event: freeze(0, { resources }) });
  const records = [spelled('started', ['_Web-0', 'DB-1'], 2), spelled('scheduled', ['web-0', 'db-1'], 1)];
  return withTrail(records, async (reader) => {
    const found = await Promise.all(
      ['WEB-0', 'web-0', '_web-0', 'db-1', 'web'].map((vm) => reader.events({ vm, limit: 9 })),
    );
    expect(found.map(({ length }) => length)).toEqual([1, 1, 1, 1, 0]);
    expect(found[0]?.[0]?.vms).toEqual(['DB-1', 'Web-0']);
  });
});
