// How fast the outbox commits and settles, beside what the same disk takes to flush the same bytes.
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { dataPolicy } from '../../src/core/delivery.ts';
import { encodeRecord } from '../../src/core/record.ts';
import { Outbox } from '../../src/delivery/outbox/outbox.ts';
import { silentLog } from '../../src/log.ts';
import { streamFilter } from '../../src/sinks/sink.ts';
import { announcement } from '../../test/support/outboxes.ts';
import { sampleRecord } from '../../test/support/records.ts';
import { diskDirectory, openRawFile } from './raw-disk.ts';
import { type Bench, type BenchResult, quantile } from './result.ts';

const sinks = ['fleet', 'hook'] as const;
const dayMs = 86_400_000;
const limits = { sizeMax: 1024 ** 3, keepDeliveredMs: dayMs, keepDeadMs: dayMs };

export const run: Bench = async ({ quick }) => {
  const count = quick ? 200 : 5_000;
  using directory = diskDirectory();
  const raw = rawTimes(join(directory.path, 'raw'), count);
  const { commits, settles } = outboxTimes(directory.path, count);
  return [
    ...figures('commit of one record for two sinks', commits, raw),
    ...figures('settling one delivery', settles, raw),
  ];
};

function rawTimes(path: string, count: number): number[] {
  using file = openRawFile(path);
  const bytes = encodeRecord(sampleRecord());
  return timed(count, () => file.append(bytes));
}

function outboxTimes(directory: string, count: number) {
  const routes = sinks.map((name) => ({ name, filter: streamFilter }));
  using outbox = new Outbox({ directory, routes, limits, clock: systemClock, log: silentLog });
  const news = Array.from({ length: count }, () => announcement());
  const commits = timed(count, (index) => {
    const { watch, draft } = news[index] ?? announcement();
    if (!outbox.commit(watch, [draft]).ok) throw new Error('a commit failed');
  });
  const settles = timed(count, () => {
    const next = outbox.next(sinks[0], { policy: dataPolicy });
    const [due] = next.status === 'due' ? next.due : [];
    if (due === undefined) throw new Error('a delivery is missing');
    outbox.settle([{ delivery: due.delivery, verdict: { state: 'delivered' }, attempted: true }]);
  });
  return { commits, settles };
}

/** Ms for each of so many turns. */
function timed(count: number, work: (index: number) => void): number[] {
  return Array.from({ length: count }, (_, index) => {
    const begun = performance.now();
    work(index);
    return performance.now() - begun;
  });
}

function figures(name: string, times: readonly number[], raw: readonly number[]): BenchResult[] {
  const perSecond = (all: readonly number[]) => (1_000 * all.length) / all.reduce((sum, ms) => sum + ms, 0);
  const result = (what: string, unit: string, read: (all: readonly number[]) => number): BenchResult => ({
    name: `${name}${what}`,
    value: read(times),
    unit,
    baseline: { name: 'append and flush', value: read(raw) },
  });
  return [
    result('', '/s', perSecond),
    result(', p50', 'ms', (all) => quantile(all, 0.5)),
    result(', p99', 'ms', (all) => quantile(all, 0.99)),
  ];
}
