// SIGKILL of `seb audit prune` at random moments, while a consumer's store goes on writing: the journal knows every body that went.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startNode } from '../support/process.ts';
import { asHubEvents } from '../support/synthetic.ts';
import { sqliteWorld } from '../support/trail/sqlite-world.ts';
import { append, entriesOf, journalOf, other, stream, type TrailWorld } from '../support/trail/world.ts';
import { until } from '../support/until.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');
const bodies = 15_000;

/** The stream's entries without a body, by index. */
const bareIn = async (world: TrailWorld, name: string): Promise<number[]> =>
  (await entriesOf(world, name)).flatMap(({ index, body }) => (body === null ? [index] : []));

test('a prune killed at random moments has written down each body that went, and ends the work when it runs again', async () => {
  await using world = sqliteWorld();
  await using trail = await world.open();
  for (let at = 0; at < bodies; at += 1_000) {
    const batch = Array.from({ length: 1_000 }, (_, more) => `body ${at + more}`);
    await append(trail, asHubEvents(batch, at));
  }
  const prune = [cli, 'audit', 'prune', '--trail', world.path, '--before', '2100-01-01'];
  const written = async () =>
    (await journalOf(world, trail)).flatMap((fact) =>
      fact.kind === 'pruned' && fact.stream === stream ? [fact] : [],
    );

  for (let life = 0; life < 3; life++) {
    const before = (await written()).length;
    await using running = startNode(prune);
    await until('a slice to be written down', async () => (await written()).length > before, 15_000);
    expect(await append(trail, asHubEvents([`meanwhile ${life}`], life), other)).toMatchObject({
      status: 'appended',
    });
    await delay(Math.random() * 100);
    running.child.kill('SIGKILL');
    await running.ended();
    const said = (await written()).flatMap(({ from, to }) =>
      Array.from({ length: to - from + 1 }, (_, at) => from + at),
    );
    expect(said).toEqual(await bareIn(world, stream));
  }
  await using last = startNode(prune);
  expect(await last.ended()).toBe(0);
  expect(await bareIn(world, stream)).toHaveLength(bodies);
  expect(await trail.check()).toMatchObject({ entries: bodies + 3, different: [], damaged: [] });
}, 60_000);
