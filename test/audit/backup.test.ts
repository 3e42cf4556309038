// Whether a copy of the trail that SQLite makes while the consumer writes is a trail, as docs/operate.md says.
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import { emptyStream, type StreamPosition, type TrailStore } from '../../src/audit/store.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const stream = 'ns/hub/0/epoch';

it('can be asked, and be gone on with from the position that is in it', async () => {
  using directory = temporaryDirectory();
  const [path, copy] = [join(directory.path, 'trail.db'), join(directory.path, 'copy.db')];
  const events = asHubEvents(liveMigration());
  await using trail = openSqliteTrail(path);
  await trail.append(stream, emptyStream, events.slice(0, 2));
  using source = new DatabaseSync(path, { readOnly: true });
  await backup(source, copy);
  const at = await positionOf(trail);
  await trail.append(stream, at, events.slice(2));

  await using restored = openSqliteTrail(copy);
  expect(await positionOf(restored)).toEqual(at);
  expect(await restored.append(stream, at, events.slice(2))).toMatchObject({ status: 'appended' });
  expect(await entriesIn(copy)).toBe(events.length);
  expect(await entriesIn(path)).toBe(events.length);
});

async function positionOf(trail: TrailStore): Promise<StreamPosition> {
  const known = await trail.position(stream);
  if (known.status !== 'known') throw new Error(known.status);
  return known.position;
}

async function entriesIn(path: string): Promise<number> {
  await using reader = openSqliteReader(path);
  return (await reader.counts()).entries;
}
