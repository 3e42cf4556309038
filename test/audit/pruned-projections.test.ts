// What is still proven of the projections once bodies are gone, and what is only believed.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asHubEvents, liveMigration, saying } from '../support/synthetic.ts';
import { approving } from '../support/synthetic-deeds.ts';
import { someBodies } from '../support/trail/projections.ts';
import { projectionsIn, sqliteWorld } from '../support/trail/sqlite-world.ts';
import { append, later, other, positionIn, stream } from '../support/trail/world.ts';

const end = Number.MAX_SAFE_INTEGER;
const version = { ...saying({ kind: 'scheduled' }) };
const contradiction = { ...version, data: { ...version.data, noticeSeconds: 7 } };
// A repeat, a contradiction and poison beside the life of an event.
const told = [
  ...[...liveMigration(), 'poison', ...liveMigration(0, 1), contradiction, ...liveMigration()],
  approving(),
];

it('is the same as without pruning, whatever was pruned when and whatever came afterwards', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          batch: fc.array(someBodies, { minLength: 1, maxLength: 5 }),
          into: fc.constantFrom(stream, other, later),
          prune: fc.option(fc.integer({ min: 0, max: 12 }), { freq: 2 }),
        }),
        { minLength: 1, maxLength: 7 },
      ),
      async (steps) => {
        await using world = sqliteWorld();
        await using whole = sqliteWorld();
        await using trail = await world.open();
        await using unpruned = await whole.open();
        for (const { batch, into, prune } of steps) {
          const events = asHubEvents(batch, (await positionIn(trail, into)).size);
          await append(trail, events, into);
          await append(unpruned, events, into);
          const [first] = asHubEvents([''], prune ?? 0);
          if (prune !== null) await trail.prune(first?.enqueuedMs ?? 0);
        }
        const given = projectionsIn(whole.path);
        const sound = { different: [], damaged: [] };
        expect(await trail.check()).toMatchObject(sound);
        expect(projectionsIn(world.path)).toEqual(given);
        expect(await trail.rebuild()).toMatchObject(sound);
        expect(projectionsIn(world.path)).toEqual(given);
      },
    ),
    { numRuns: 20 },
  ));

/** A trail of which every body is gone. */
async function bareTrail() {
  const world = sqliteWorld();
  const trail = await world.open();
  await append(trail, asHubEvents(told));
  await trail.prune(end);
  return {
    ...{ world, trail },
    [Symbol.asyncDispose]: async () => {
      await trail[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    },
  };
}

describe('of a trail without any body', () => {
  // Each with the projections that are named: some follow from others.
  const found: readonly (readonly [sql: string, ...tables: string[]])[] = [
    ['UPDATE observation SET repeats = repeats + 1 WHERE idx = 0', 'observation'],
    ['UPDATE observation SET idx = 8 WHERE idx = 0', 'observation'],
    ["UPDATE observation SET type = replace(type, 'started', 'canceled')", 'event', 'event_observer'],
    ['UPDATE observation SET agent_seq = 99 WHERE idx = 0', 'agent'],
    ['UPDATE observation SET at_ms = at_ms + 1', 'event', 'event_observer', 'agent'],
    ['UPDATE conflict SET variants = 3', 'conflict'],
    ['DELETE FROM conflict', 'conflict'],
    ["INSERT INTO parked SELECT stream, 0, 'test' FROM parked", 'parked'],
    ["UPDATE event SET status = 'canceled'", 'event'],
    ['UPDATE event SET last_ms = last_ms - 1', 'event'],
    ['UPDATE event SET state = replace(state, \'"started":\', \'"updated":\')', 'event'],
    ["UPDATE event SET state = 'nothing that can be read'", 'event'],
    ["UPDATE event SET state = '{}'", 'event'],
    [
      // Every column and the state agree on it; the rows of the observations do not.
      `UPDATE event SET first_ms = first_ms - 100000000000, state = replace(state, '"first":179', '"first":169')`,
      'event',
    ],
    [`UPDATE agent SET state = replace(state, '"first":179', '"first":169')`, 'agent'],
    ['UPDATE event_observer SET first_ms = first_ms - 1', 'event_observer'],
    ['DELETE FROM event', 'event'],
    ["INSERT INTO event SELECT 'invented', type, status, outcome, 0, 0, state FROM event", 'event'],
    ['UPDATE event_observer SET phases = 31', 'event_observer'],
    ["INSERT INTO event_observer SELECT event_id, 'invented', 1, 1, 0, 0 FROM event", 'event_observer'],
    ['DELETE FROM event_observer', 'event_observer'],
    ["INSERT INTO deed SELECT event_id, 'instance-1', what, at_ms, state FROM deed", 'deed'],
    ["INSERT INTO deed SELECT event_id, agent_id, 'impact', at_ms, state FROM deed", 'deed'],
    [
      // Whole in itself, but no impact record of that agent ever stood there.
      `INSERT INTO deed SELECT event_id, agent_id, 'impact', 1,
         '{"firstAt":1,"at":1,"sequence":1,"deed":{"family":"impact","kind":"none"}}' FROM deed`,
      'deed',
    ],
    ["UPDATE deed SET state = 'nothing that can be read'", 'deed'],
    ['UPDATE deed SET at_ms = at_ms + 1', 'deed'],
    ['UPDATE agent SET first_ms = first_ms - 1', 'agent'],
    ['UPDATE agent SET last_ms = 0', 'agent'],
    ["UPDATE agent SET vm_name = 'other'", 'agent'],
    ['DELETE FROM agent', 'agent'],
    ["INSERT INTO event_vm SELECT 'web-7', 'invented', 'web-7' FROM event", 'event_vm'],
  ];

  it.each(found)('finds %s, and mends what it can', async (sql, ...tables) => {
    await using bare = await bareTrail();
    const before = projectionsIn(bare.world.path);
    await bare.world.tamper(sql);
    expect(await bare.trail.check()).toMatchObject({ different: tables, damaged: [] });
    expect(projectionsIn(bare.world.path)).not.toEqual(before);
    expect(await bare.trail.rebuild()).toMatchObject({ different: tables });
    expect(await bare.trail.check()).toMatchObject({ different: [] });
  });

  const lost = [
    'DELETE FROM observation WHERE idx = 2',
    "UPDATE observation SET id = 'other' WHERE idx = 0",
    "UPDATE observation SET source = 'other' WHERE idx = 0",
    'UPDATE observation SET record_key = zeroblob(16) WHERE idx = 0',
    'UPDATE observation SET body_key = zeroblob(16) WHERE idx = 0',
    'DELETE FROM parked',
  ];

  it.each(lost)(
    'finds %s for good: what an entry said was taken away and cannot be made anew',
    async (sql) => {
      await using bare = await bareTrail();
      await bare.world.tamper(sql);
      for (const ask of [bare.trail.check, bare.trail.rebuild, bare.trail.check]) {
        const check = await ask();
        expect(check).toMatchObject({ status: 'checked', damaged: [] });
        expect('different' in check && check.different).toContain('observation');
      }
    },
  );

  // Nothing but the bodies ever said these; docs and docstrings say so.
  const believed = [
    "UPDATE event SET type = 'Reboot', state = replace(state, 'Freeze', 'Reboot')",
    "UPDATE event SET state = replace(state, 'undergoing', 'beyond')",
    "INSERT INTO event_vm SELECT 'web-7', event_id, 'web-7' FROM event",
    "UPDATE event_observer SET affected = 0 WHERE agent_id = 'instance-1'",
    "UPDATE agent SET state = replace(state, '1.0.0', '6.6.6')",
    "UPDATE parked SET reason = 'test'",
    'UPDATE deed SET state = replace(state, \'"attempts":1\', \'"attempts":9\')',
  ];

  it.each(believed)('cannot find %s, and a rebuild does not lose it', async (sql) => {
    await using bare = await bareTrail();
    const before = projectionsIn(bare.world.path);
    await bare.world.tamper(sql);
    const changed = projectionsIn(bare.world.path);
    expect(changed).not.toEqual(before);
    expect(await bare.trail.check()).toMatchObject({ different: [] });
    await bare.trail.rebuild();
    expect(projectionsIn(bare.world.path)).toEqual(changed);
  });

  it('finds each of these as soon as one copy of the records still has a body', async () => {
    for (const sql of believed.filter((each) => !each.includes('parked'))) {
      await using bare = await bareTrail();
      await append(bare.trail, asHubEvents([...told.filter((body) => body !== 'poison')]), other);
      await bare.world.tamper(sql);
      expect(await bare.trail.check(), sql).toMatchObject({
        different: [/^(?:UPDATE|INSERT INTO) (\w+)/.exec(sql)?.[1]],
      });
    }
  });
});
