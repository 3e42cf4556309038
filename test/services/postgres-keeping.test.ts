// Two consumers on one PostgreSQL trail keep it together: one chain of seals, one anchor, nothing named twice, verified.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openPostgresSource } from '../../src/audit/postgres/source.ts';
import { openSigner } from '../../src/audit/signing.ts';
import { type JournalEntry, journalEntryOf } from '../../src/core/journal.ts';
import { type Seal, sealOf } from '../../src/core/seal.ts';
import { streamKind } from '../../src/core/stream.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { runCommandLine } from '../support/command-line.ts';
import { keyBeside, openSender, startConsumer } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';
import { openDatabase } from './support/postgres.ts';
import { settingsFor } from './support/postgres-world.ts';

async function ownStreamsIn(url: string) {
  await using source = await openPostgresSource(settingsFor(url));
  const [facts, seals]: [JournalEntry[], Seal[]] = [[], []];
  let entries = 0;
  for (const { name, kind, size } of await source.streams()) {
    if (streamKind(name) === 'hub') entries += size;
    else
      for await (const chunk of source.entries(name)) {
        for (const { body, enqueuedMs } of chunk) {
          const entry = { body: body ?? new Uint8Array(), enqueuedMs };
          if (kind === 'seal') seals.push(...[sealOf(entry)].filter((seal) => seal !== null));
          else facts.push(...[journalEntryOf(entry)].filter((fact) => fact !== null));
        }
      }
  }
  return { facts, seals, entries };
}

test('two consumers on one PostgreSQL trail seal and anchor it as one', async () => {
  using directory = temporaryDirectory();
  await using database = await openDatabase();
  await using hub = await startEventHubsEmulator({ hubs: [{ name: 'fleet', partitions: 2 }] });
  await using sender = openSender(hub);
  const path = join(directory.path, 'trail');
  const notes = join(directory.path, 'seals.notes');
  const settings = {
    trail: { type: 'postgres', url: database.url },
    anchors: [{ type: 'file', path: notes, interval: '1s' }],
  };
  await using one = startConsumer(path, hub, { settings });
  await one.reading();
  await using two = startConsumer(path, hub, { settings });
  await two.reading();
  await sender.send([...liveMigration(0), ...liveMigration(1)]);
  await until('all entries', async () => (await ownStreamsIn(database.url)).entries === 6, 30_000);
  expect(await Promise.all([one.stop(), two.stop()])).toEqual([{ ok: true }, { ok: true }]);
  const { facts, seals } = await ownStreamsIn(database.url);
  expect(facts.filter(({ kind }) => kind === 'consumer-started')).toHaveLength(2);
  expect(facts.filter(({ kind }) => kind === 'consumer-stopped')).toHaveLength(2);
  // The second one reads what the first one wrote down.
  expect(facts.filter(({ kind }) => kind === 'keys-changed')).toHaveLength(1);
  const named = seals.flatMap(({ heads }) => heads.map(({ stream, size }) => `${stream} ${size}`));
  expect(new Set(named).size).toBe(named.length);
  expect([...one.log.lines, ...two.log.lines].filter(({ level }) => level !== 'info')).toEqual([]);
  const { keys } = openSigner([keyBeside(path)]);
  const args = ['--trail', database.url, '--anchor', notes, '--key', keys[0] ?? ''];
  const verified = await runCommandLine(['audit', 'verify', ...args]);
  expect(verified.exitCode, verified.stdout + verified.stderr).toBe(0);
});
