// How quickly the trail answers what happened to one VM in the last week, beside the bare query that an index answers.
import { DatabaseSync } from 'node:sqlite';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import { diskDirectory } from './raw-disk.ts';
import { type Bench, type BenchResult, quantile } from './result.ts';
import { makeTrail } from './trail-maker.ts';

const weekMs = 7 * 86_400_000;
const vm = 'web-7';

/** The least that can be asked: the rows of the events by the index of VM names, not read and with nobody counted. */
const bareSql = `
  SELECT event.event_id, state FROM event_vm JOIN event USING (event_id)
  WHERE vm_key = ? AND last_ms >= ? ORDER BY first_ms DESC, event.event_id DESC LIMIT 1000`;

export const run: Bench = async ({ quick }) => {
  const [entries, rounds] = quick ? [10_000, 20] : [1_000_000, 200];
  using directory = diskDirectory();
  const { path, at } = await makeTrail(directory.path, entries);
  const since = at - weekMs;
  const bare = bareTimes(path, since, rounds);
  const { times, found } = await readerTimes(path, since, rounds);
  return [
    ...figures(`events of one VM in 7 days, ${entries} entries, ${found} found`, times, bare),
    { name: 'the same with opening the trail', value: await openedTime(path, since), unit: 'ms' },
  ];
};

function bareTimes(path: string, since: number, rounds: number): number[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const statement = database.prepare(bareSql);
  return Array.from({ length: rounds }, () => {
    const begun = performance.now();
    statement.all(vm, since);
    return performance.now() - begun;
  });
}

async function readerTimes(path: string, since: number, rounds: number) {
  await using reader = openSqliteReader(path);
  const times: number[] = [];
  let found = 0;
  for (let round = 0; round < rounds; round += 1) {
    const begun = performance.now();
    found = (await reader.events({ vm, since, limit: 1_000 })).length;
    times.push(performance.now() - begun);
  }
  return { times, found };
}

async function openedTime(path: string, since: number): Promise<number> {
  const begun = performance.now();
  await using reader = openSqliteReader(path);
  await reader.events({ vm, since, limit: 1_000 });
  return performance.now() - begun;
}

const figures = (name: string, times: readonly number[], bare: readonly number[]): BenchResult[] =>
  [0.5, 0.99].map((share) => ({
    name: `${name}, p${share * 100}`,
    ...{ value: quantile(times, share), unit: 'ms' },
    baseline: { name: 'bare indexed query', value: quantile(bare, share) },
  }));
