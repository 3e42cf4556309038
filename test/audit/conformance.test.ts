// The SQLite store does what every store must.
import { interrupted, projectionsIn, type SqliteWorld, sqliteWorld } from '../support/trail/sqlite-world.ts';
import type { TrailWorld } from '../support/trail/world.ts';
import { describeTrail } from '../support/trail-conformance.ts';

const pathOf = (world: TrailWorld): string => (world as SqliteWorld).path;

describeTrail('SQLite', async () => sqliteWorld(), {
  runs: 15,
  interrupt: (world, append) => interrupted(pathOf(world), append),
  dump: (world) => projectionsIn(pathOf(world)),
});
