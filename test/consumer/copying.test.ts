// Bringing the copy up to date for an anchor: whenever that is asked for, the next step comes at once.
import { expect, it } from 'vitest';
import { openFolderFiles } from '../../src/audit/archive/folder-files.ts';
import { systemClock } from '../../src/clock.ts';
import { openCopying } from '../../src/consumer/copying.ts';
import { contentOf, grow, readCopy } from '../support/archive/copies.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { sqliteWorld } from '../support/trail/sqlite-world.ts';
import { sign } from '../support/trail/world.ts';
import { until } from '../support/until.ts';

it('copies once more at once what came while a step was under way, and what comes while it waits', async () => {
  await using world = sqliteWorld();
  using directory = temporaryDirectory();
  await using trail = await world.open({ sign });
  await grow(trail, 5);
  const expectWhole = async (): Promise<void> => {
    await using source = await world.source();
    expect((await readCopy(openFolderFiles(directory.path))).content).toEqual(await contentOf(source));
  };
  const [gate, over] = [Promise.withResolvers<void>(), new AbortController()];
  let steps = 0;
  const copying = openCopying({
    settings: { type: 'folder', path: directory.path, interval: 3_600_000 },
    openSource: async () => {
      steps += 1;
      const source = await world.source();
      await gate.promise;
      return source;
    },
    ...{ clock: systemClock, log: recordingLog(), onState: () => undefined },
  });
  const run = copying.run(over.signal);
  await until('a step', () => steps === 1);
  await grow(trail, 5);
  const asked = copying.upToNow(AbortSignal.timeout(10_000));
  gate.resolve();
  await asked;
  await expectWhole();
  await grow(trail, 5);
  await copying.upToNow(AbortSignal.timeout(10_000));
  await expectWhole();
  expect(steps).toBe(3);
  over.abort();
  await run;
});
