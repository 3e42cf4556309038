// What every store must derive from its entries: the same whatever came first, and found out when it was changed.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { asHubEvents, freeze, liveMigration, saying } from '../synthetic.ts';
import { approving, beating, feeling, hooking } from '../synthetic-deeds.ts';
import { append, clean, type OpenWorld, other, positionIn, stream } from './world.ts';

// A few facts of two events from three VMs, so that repeats, conflicts and poison are frequent.
const told = [0, 1].flatMap((event) => [0, 1, 2].flatMap((vm) => liveMigration(event, vm)));
const contradicting = (noticeSeconds: number) => {
  const record = saying({ kind: 'scheduled' });
  return { ...record, data: { ...record.data, noticeSeconds } };
};
const seen = [
  { eventId: freeze().eventId, eventType: 'Freeze', eventStatus: 'Scheduled', firstSeenAt: null },
];
// Words that overtake each other, on an event that other records may tell or not.
const deeds = [
  approving({ decision: 'refused', reason: 'prepare-failed', answer: null }, { sequence: 4 }),
  approving({}, { sequence: 6, after: 5 }),
  hooking({ outcome: 'started', durationMs: null }, { sequence: 4, vm: 1 }),
  hooking({ outcome: 'failed', exitCode: 1 }, { sequence: 5, vm: 1, after: -5 }),
  feeling({}, { vm: 2, sequence: 9 }),
  feeling({ event: freeze(7) }, { vm: 2, sequence: 10 }),
  beating({ document: { seen } }, { vm: 1, sequence: 7, after: 40 }),
  beating({ source: { state: 'failing' } }, { vm: 1, sequence: 8, after: 30 }),
];
/** Bodies of which many are said again, some contradict each other, and some cannot be read. */
export const someBodies = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...told) },
  { weight: 3, arbitrary: fc.constantFrom(...deeds) },
  { weight: 1, arbitrary: fc.constantFrom('poison', '{}') },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }).map(contradicting) },
);

/** One change to each column that a projection answers with, and each row gone or invented; by the table it is in. */
const changes: readonly (readonly [table: string, sql: string])[] = [
  ['observation', `UPDATE observation SET repeats = repeats + 1 WHERE repeats = 1`],
  ['observation', `UPDATE observation SET idx = 1 WHERE idx = 0`],
  ['observation', `UPDATE observation SET type = 'x.approval.y' WHERE idx = 0`],
  ['observation', `UPDATE observation SET at_ms = at_ms - 1 WHERE idx = 0`],
  ['observation', `UPDATE observation SET event_id = NULL WHERE idx = 0`],
  ['observation', `UPDATE observation SET agent_id = 'nobody' WHERE idx = 0`],
  ['observation', `UPDATE observation SET agent_seq = 99 WHERE idx = 0`],
  ['observation', `UPDATE observation SET id = 'other' WHERE idx = 0`],
  ['observation', `UPDATE observation SET source = 'other' WHERE idx = 0`],
  ['observation', `DELETE FROM observation WHERE idx = 0`],
  ['conflict', `UPDATE conflict SET variants = 3`],
  ['conflict', `UPDATE conflict SET id = 'other'`],
  ['conflict', `DELETE FROM conflict`],
  ['parked', `UPDATE parked SET reason = 'test'`],
  ['parked', `DELETE FROM parked`],
  ['parked', `INSERT INTO parked SELECT stream, 0, 'test' FROM parked`],
  ['event', `UPDATE event SET status = 'canceled'`],
  ['event', `UPDATE event SET outcome = NULL`],
  ['event', `UPDATE event SET type = 'Reboot'`],
  ['event', `UPDATE event SET first_ms = first_ms + 1`],
  ['event', `UPDATE event SET last_ms = last_ms - 1`],
  ['event', `UPDATE event SET state = replace(CAST(state AS TEXT), 'undergoing', 'beyond')`],
  ['event', `DELETE FROM event`],
  ['event_vm', `UPDATE event_vm SET vm_name = 'WEB-0' WHERE vm_key = 'web-0'`],
  ['event_vm', `DELETE FROM event_vm WHERE vm_key = 'web-0'`],
  [
    'event_vm',
    `INSERT INTO event_vm (vm_key, event_id, vm_name) SELECT 'web-7', event_id, 'web-7' FROM event`,
  ],
  ['event_observer', `UPDATE event_observer SET phases = 31`],
  ['event_observer', `UPDATE event_observer SET affected = 1 - affected`],
  ['event_observer', `UPDATE event_observer SET first_ms = first_ms - 1`],
  ['event_observer', `UPDATE event_observer SET last_ms = last_ms + 1`],
  ['event_observer', `DELETE FROM event_observer`],
  ['deed', `UPDATE deed SET at_ms = at_ms + 1`],
  ['deed', `UPDATE deed SET what = 'approval refused'`],
  ['deed', `UPDATE deed SET agent_id = 'nobody'`],
  ['deed', `UPDATE deed SET state = replace(CAST(state AS TEXT), 'approved', 'refused')`],
  ['deed', `DELETE FROM deed`],
  ['agent', `UPDATE agent SET first_ms = 0`],
  ['agent', `UPDATE agent SET vm_id = 'other'`],
  ['agent', `UPDATE agent SET vm_name = 'other'`],
  ['agent', `UPDATE agent SET resource_id = 'other'`],
  ['agent', `UPDATE agent SET last_ms = 0`],
  ['agent', `UPDATE agent SET state = replace(CAST(state AS TEXT), '1.0.0', '6.6.6')`],
  ['agent', `DELETE FROM agent WHERE agent_id = 'instance-0'`],
];

export function keepsProjections(openWorld: OpenWorld): void {
  it('has what the entries give, in whatever order, batches and streams they came', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            batch: fc.array(someBodies, { minLength: 1, maxLength: 5 }),
            into: fc.constantFrom(stream, other),
          }),
          { minLength: 1, maxLength: 6 },
        ),
        async (appends) => {
          await using world = await openWorld();
          await using trail = await world.open();
          for (const { batch, into } of appends) {
            await append(trail, asHubEvents(batch, (await positionIn(trail, into)).size), into);
          }
          const entries = appends.reduce((sum, { batch }) => sum + batch.length, 0);
          expect(await trail.check()).toEqual(clean(entries));
          expect(await trail.rebuild()).toEqual(clean(entries));
          expect(await trail.check()).toEqual(clean(entries));
        },
      ),
      { numRuns: 15 },
    ));

  it('names every change to every projection, and mends it by a rebuild', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    const events = [
      ...liveMigration(),
      'poison',
      ...liveMigration(0, 1),
      contradicting(7),
      ...liveMigration(),
      approving({}, { vm: 1 }),
    ];
    await append(trail, asHubEvents(events));
    for (const [table, sql] of changes) {
      await world.tamper(sql);
      const found = { status: 'checked', entries: 12, damaged: [] };
      expect(await trail.check(), sql).toMatchObject({ ...found, different: [table] });
      expect(await trail.rebuild(), sql).toMatchObject({ ...found, different: [table] });
      expect(await trail.check(), sql).toEqual(clean(12));
    }
  });

  it('calls an entry damaged whose bytes were changed, and lets it say nothing any more', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration()));
    await world.tamper(
      'UPDATE entry SET body = (SELECT body FROM entry AS e WHERE e.idx = 0 AND e.seq = 0 AND e.stream = entry.stream) WHERE idx = 1',
    );
    expect(await trail.check()).toMatchObject({ damaged: [{ stream, index: 1 }] });
    expect(await trail.rebuild()).toMatchObject({ damaged: [{ stream, index: 1 }] });
    await using reader = await world.reader();
    const phases = (await reader.facts()).map(({ type }) => type.split('.').at(-2));
    expect(phases).toEqual(['scheduled', 'completed']);
  });
}
