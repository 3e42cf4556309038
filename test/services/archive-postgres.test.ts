// A trail in PostgreSQL, copied into append blobs by two instances at once, and read there without the database.
import { expect, it } from 'vitest';
import { openBlobFiles } from '../../src/audit/archive/blob-files.ts';
import { openArchiveWriter } from '../../src/audit/archive/writer.ts';
import { openTrail, openTrailSource } from '../../src/audit/open.ts';
import { openContainer as openBlobs } from '../../src/blobs/container.ts';
import { Secret } from '../../src/config/secret.ts';
import { contentOf, copyTo, dayMs, firstDay, grow, readCopy, seal } from '../support/archive/copies.ts';
import { patience } from '../support/archive/files-contract.ts';
import { other, sign, stream } from '../support/trail/world.ts';
import { openContainer } from './support/azurite.ts';
import { openDatabase } from './support/postgres.ts';

it('gives the same copy as it has, while two instances write both', async () => {
  await using database = await openDatabase();
  await using container = await openContainer();
  const settings = {
    type: 'postgres',
    url: new Secret('test', () => database.url),
    identity: false,
  } as const;
  const files = () =>
    openBlobFiles(
      openBlobs({
        connectionString: new Secret('test', () => container.connectionString),
        container: container.container,
      }),
    );
  const instance = async (own: string): Promise<void> => {
    await using trail = await openTrail(settings, { sign });
    const writer = openArchiveWriter(files());
    for (let round = 0; round < 4; round += 1) {
      await grow(trail, 15, firstDay + (round * dayMs) / 2, own);
      await using source = await openTrailSource(settings);
      expect(['done', 'more']).toContain((await writer.copy(source, { signal: patience })).status);
    }
  };
  await Promise.all([instance(stream), instance(other)]);
  await using trail = await openTrail(settings, { sign });
  await seal(trail);
  await using source = await openTrailSource(settings);
  await copyTo(files(), source);
  expect(await readCopy(files())).toEqual({ content: await contentOf(source), faults: [] });
});
