// Facts of the consumer reach the journal in their order and once, whatever the store says meanwhile.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openJournalWriter } from '../../src/consumer/journal-writer.ts';
import type { JournalFact } from '../../src/core/journal.ts';
import { steppedClock } from '../support/clocks.ts';
import { factsIn } from '../support/own-streams.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const jumped = (byMs: number): JournalFact => ({ kind: 'clock-jumped', instance: 'a', byMs });
const jumps = (count: number, from = 0): JournalFact[] =>
  Array.from({ length: count }, (_, index) => jumped(from + index));

async function startWriting(path: string) {
  const [clock, log, over] = [steppedClock(), recordingLog(), new AbortController()];
  const trail = openSqliteTrail(path, { now: clock.now });
  const writer = openJournalWriter({ trail, clock, log });
  const run = writer.run(over.signal);
  return {
    ...{ clock, log, writer },
    stop: async () => {
      over.abort();
      await run;
    },
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await run;
      await trail[Symbol.asyncDispose]();
    },
  };
}

const saidIn = (path: string): unknown[] => factsIn(path).map((fact) => 'byMs' in fact && fact.byMs);

test('facts wait while the store takes nothing, and are then written in their order, each once', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using writing = await startWriting(path);
  writing.writer.add(jumped(0));
  await writing.clock.pass(1_000);
  const holder = new DatabaseSync(path);
  holder.exec('BEGIN IMMEDIATE');
  writing.writer.add(...jumps(250, 1));
  await writing.clock.pass(3_000);
  writing.writer.add(jumped(251));
  expect(saidIn(path)).toEqual([0]);
  holder.exec('ROLLBACK');
  holder.close();
  await writing.clock.pass(10_000);
  expect(saidIn(path)).toEqual(Array.from({ length: 252 }, (_, index) => index));
  expect(writing.log.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
});

test('what waits at the end is written, or counted when there is no time', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using writing = await startWriting(path);
  await writing.stop();
  writing.writer.add(...jumps(3));
  const over = new AbortController();
  over.abort();
  expect(await writing.writer.flush(over.signal)).toBe(3);
  expect(await writing.writer.flush(new AbortController().signal)).toBe(0);
  expect(saidIn(path)).toEqual([0, 1, 2]);
});

test('more facts than could ever be written are left out, and the log says so', async () => {
  using directory = temporaryDirectory();
  await using writing = await startWriting(join(directory.path, 'trail.db'));
  await writing.stop();
  writing.writer.add(...jumps(10_001));
  expect(writing.log.lines.map(({ level }) => level)).toEqual(['error']);
  expect(await writing.writer.flush(AbortSignal.abort())).toBe(10_000);
});
