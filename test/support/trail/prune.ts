// What every store must do when bodies go: their hashes, the trees and what they said stay; never under a legal hold.
import { expect, it } from 'vitest';
import { rootOf } from '../../../src/core/tree.ts';
import { asHubEvents, liveMigration, synthesisAt } from '../synthetic.ts';
import {
  append,
  entriesOf,
  expectStatus,
  headOf,
  headsOf,
  idOf,
  inHex,
  journalOf,
  type OpenWorld,
  other,
  restoredFrom,
  sign,
  stream,
  type TrailWorld,
  treeOver,
} from './world.ts';

const ageOf = (sequenceNumber: number): number => synthesisAt + 1_000 * sequenceNumber;
const end = Number.MAX_SAFE_INTEGER;

/** Which of a stream's entries have a body still, as a picture: `..xxx`. */
const bodiesOf = async (world: TrailWorld, name: string): Promise<string> =>
  (await entriesOf(world, name)).map(({ body }) => (body === null ? '.' : 'x')).join('');

async function questions(world: TrailWorld) {
  await using reader = await world.reader();
  return [
    await reader.events({ limit: 100 }),
    await reader.facts(),
    await reader.counts(),
    await reader.streams(),
  ];
}

export function prunes(openWorld: OpenWorld): void {
  it('drops old bodies from the beginning of each stream, and keeps hashes, trees, notes and answers', async () => {
    await using world = await openWorld();
    await using trail = await world.open({ sign });
    await append(trail, asHubEvents([...liveMigration(), 'poison', ...liveMigration(0, 1)]));
    await append(trail, asHubEvents(liveMigration(1), 2), other);
    const [heads, answers] = [await headsOf(trail), await questions(world)];
    expect(await trail.prune(ageOf(4))).toEqual({
      status: 'pruned',
      streams: [
        { stream, bodies: 4 },
        { stream: other, bodies: 2 },
      ],
    });
    expect([await bodiesOf(world, stream), await bodiesOf(world, other)]).toEqual(['....xxx', '..x']);
    for (const { name, tree, note } of heads.filter(({ kind }) => kind === 'hub')) {
      expect(inHex(await headOf(trail, name))).toMatchObject({ tree: inHex(tree), note });
      expect(inHex(treeOver(await entriesOf(world, name)))).toEqual(inHex(tree));
    }
    expect(await questions(world)).toEqual(answers);
    const root = Buffer.from(rootOf((await headOf(trail, stream)).tree)).toString('base64');
    expect((await journalOf(world, trail)).filter(({ kind }) => kind === 'pruned')).toMatchObject([
      { stream, from: 0, to: 3, size: 7, root },
      { stream: other, from: 0, to: 1, size: 3 },
    ]);
  });

  it('leaves no hole: a body stays behind one that is too young to go', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    const [first, second, third] = asHubEvents(liveMigration());
    if (first === undefined || second === undefined || third === undefined) throw new Error('three');
    await append(trail, [first, { ...second, enqueuedMs: ageOf(9) }, third]);
    await trail.prune(ageOf(5));
    expect(await bodiesOf(world, stream)).toBe('.xx');
    await trail.prune(ageOf(10));
    expect(await bodiesOf(world, stream)).toBe('...');
    expect((await journalOf(world, trail)).filter(({ kind }) => kind === 'pruned')).toMatchObject([
      { from: 0, to: 0 },
      { from: 1, to: 2 },
    ]);
  });

  it('does nothing and says nothing when nothing is old enough', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration()));
    expect(await trail.prune(ageOf(0))).toEqual({ status: 'pruned', streams: [] });
    await trail.prune(end);
    expect(await trail.prune(end)).toEqual({ status: 'pruned', streams: [] });
    expect((await journalOf(world, trail)).map(({ kind }) => kind)).toEqual(['stream-began', 'pruned']);
  });

  it('never touches what the trail says of itself', async () => {
    await using world = await openWorld();
    await using trail = await world.open({ now: () => 1, sign });
    await append(trail, asHubEvents(liveMigration()));
    await trail.seal({ size: 0, lastSequenceNumber: -1 }, await headsOf(trail));
    await trail.prune(end);
    for (const { name, kind } of await headsOf(trail)) {
      expect(await bodiesOf(world, name)).toMatch(kind === 'hub' ? /^\.+$/ : /^x+$/);
    }
  });

  it('never goes across a legal hold, whoever laid it, and goes on when the last one is released', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await using second = await world.open();
    await append(trail, asHubEvents(liveMigration()));
    await trail.journal([
      { kind: 'held', hold: 'case-1' },
      { kind: 'held', hold: 'case-2' },
    ]);
    await trail.journal([{ kind: 'held', hold: 'case-1' }]);
    expect(await second.prune(end)).toEqual({ status: 'held', holds: ['case-1', 'case-2'] });
    await second.journal([
      { kind: 'released', hold: 'case-1' },
      { kind: 'released', hold: 'case-9' },
    ]);
    expect(await trail.prune(end)).toEqual({ status: 'held', holds: ['case-2'] });
    expect(await bodiesOf(world, stream)).toBe('xxx');
    await trail.journal([{ kind: 'released', hold: 'case-2' }]);
    expect(await second.prune(end)).toMatchObject({ status: 'pruned', streams: [{ stream, bodies: 3 }] });
  });

  it('keeps a legal hold when the trail’s own streams begin anew', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration()));
    await trail.journal([{ kind: 'held', hold: 'case-1' }]);
    await trail.renew(restoredFrom(await idOf(trail)));
    expect(await trail.prune(end)).toEqual({ status: 'held', holds: ['case-1'] });
    await trail.journal([{ kind: 'released', hold: 'case-1' }]);
    expect(await trail.prune(end)).toMatchObject({ status: 'pruned' });
  });

  it('goes on growing, folds what comes into what was said, and checks and rebuilds without a loss', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents([...liveMigration(), 'poison', ...liveMigration(1)]));
    await trail.prune(ageOf(5));
    await append(trail, asHubEvents([...liveMigration(0, 1), ...liveMigration()], 7));
    const answers = await questions(world);
    expect(answers[2]).toMatchObject({ entries: 13, records: 9, repeats: 3, parked: 1, events: 2 });
    const checked = { status: 'checked', entries: 13, pruned: 5, different: [], damaged: [] };
    expect(await trail.check()).toEqual(checked);
    expect(await trail.rebuild()).toEqual(checked);
    expect(await questions(world)).toEqual(answers);
    expectStatus(await append(trail, asHubEvents(liveMigration(2), 13)), 'appended');
    expect(await trail.check()).toMatchObject({ entries: 16, pruned: 5, different: [] });
  });

  it('finds what was changed of what the remaining entries say', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents([...liveMigration(), ...liveMigration(1, 1)]));
    await trail.prune(ageOf(3));
    const answers = await questions(world);
    // Event 1 and agent 1 rest on entries that are still there.
    const changes: readonly (readonly [string, string])[] = [
      ['event', `UPDATE event SET status = 'canceled' WHERE event_id LIKE '%1'`],
      ['event', `DELETE FROM event WHERE event_id LIKE '%1'`],
      ['event_observer', `UPDATE event_observer SET phases = 31 WHERE agent_id = 'instance-1'`],
      ['agent', `UPDATE agent SET vm_id = 'other' WHERE agent_id = 'instance-1'`],
      ['observation', `DELETE FROM observation WHERE idx = 4`],
    ];
    for (const [table, sql] of changes) {
      await world.tamper(sql);
      expect(await trail.check(), sql).toMatchObject({ different: [table], damaged: [] });
      expect(await trail.rebuild(), sql).toMatchObject({ different: [table] });
      expect(await questions(world), sql).toEqual(answers);
    }
  });
}
