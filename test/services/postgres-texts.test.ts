// What agents may send, however odd: PostgreSQL keeps it, and answers as SQLite does.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import type { TrailReader } from '../../src/audit/store.ts';
import { asHubEvents, freeze, observerOf, saying } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { append, clean, entriesOf, stream } from '../support/trail/world.ts';
import { openPostgresWorld } from './support/postgres-world.ts';

/** A text of so many characters that no compression makes shorter, three bytes each in UTF-8. */
const longName = (length: number): string =>
  [...randomBytes(2 * length)]
    .slice(0, length)
    .map((byte, at) => String.fromCharCode(0x4e00 + byte + 256 * (at % 60)))
    .join('');

const odd = [
  'a\0',
  'a\\u0000',
  'a\\\\u0000',
  '\0',
  '\\',
  'a\u2400',
  '\ud83d',
  'half \udca5 pair',
  '\u{1f4a5}',
  `${'x'.repeat(1_000)}\u{1f4a5}`,
  "'; DROP TABLE seb.event; --",
  '{"},{"}',
  '$1 %s $$',
  '\r\n\t\u0001\u007f\u2028',
  'NULL',
  'ﬀÅİı',
  longName(1_000),
];

const spoken = odd.flatMap((text, at) => {
  const observer = { ...observerOf(at), vmName: text, vmId: text, resourceId: text };
  const event = freeze(at, { description: text, resources: [text, `${text}!`, 'WEB-1'] });
  const record = saying({ kind: 'scheduled', event, vm: at, observer });
  const { agent } = record.data as { agent: object };
  const named = { ...event, eventId: text };
  // Of a name that is too long a half pair is left at its end.
  const instanceId = at % 2 === 0 ? text : `${text.padEnd(1_023, 'y')}\u{1f4a5}`;
  return [
    record,
    { ...record, id: text, source: `urn:${text}` },
    { ...record, data: { ...record.data, event: named, agent: { ...agent, instanceId } } },
    // Beyond what a timestamp of PostgreSQL may be.
    { ...record, id: `early ${at}`, time: '0000-01-01T00:00:00Z' },
    { ...record, id: `late ${at}`, time: '9999-12-31T23:59:59.999Z' },
  ].map((each) => JSON.stringify(each));
});

async function answers(reader: TrailReader) {
  const events = await reader.events({ limit: 1_000 });
  const ofVms = [];
  for (const text of odd) ofVms.push((await reader.events({ limit: 1_000, vm: text })).length);
  const facts = [];
  for (const { eventId } of events) facts.push(await reader.facts(eventId));
  return { events, ofVms, facts, all: await reader.facts(), counts: await reader.counts() };
}

test('texts that no column can hold, and names that no index can, stop nothing and are answered as by SQLite', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  await using world = await openPostgresWorld('seb_writer');
  await using trail = await world.open();
  await using other = openSqliteTrail(path);
  const events = asHubEvents(spoken);
  // All in one batch, where two that are nearly the same must not become one.
  for (const each of [trail, other]) {
    expect(await append(each, events)).toMatchObject({ status: 'appended', counts: { parked: 0 } });
    expect(await append(each, asHubEvents(spoken.slice(0, 20), events.length))).toMatchObject({
      status: 'appended',
    });
    expect(await each.check()).toEqual(clean(events.length + 20));
  }
  await using reader = await world.reader();
  await using expected = openSqliteReader(path);
  const [found, wanted] = [await answers(reader), await answers(expected)];
  expect(found.counts).toEqual(wanted.counts);
  expect(wanted.counts.events).toBeGreaterThan(odd.length);
  const byId = (one: { eventId: string }, two: { eventId: string }) => (one.eventId < two.eventId ? -1 : 1);
  expect([...found.events].sort(byId)).toEqual([...wanted.events].sort(byId));
  expect(found.ofVms).toEqual(wanted.ofVms);
  expect(found.all).toHaveLength(wanted.all.length);
  await using source = await world.source();
  for (const id of odd) expect((await source.find?.(id.toWellFormed()))?.length, id).toBeGreaterThan(0);
});

test('big bodies are read back a few at a time, whatever their number', async () => {
  await using world = await openPostgresWorld('seb_writer');
  await using trail = await world.open();
  const bodies = Array.from({ length: 40 }, () => randomBytes(1_048_576));
  await append(trail, asHubEvents(bodies));
  await append(
    trail,
    asHubEvents(
      Array.from({ length: 700 }, (_, at) => `small ${at}`),
      40,
    ),
  );
  await using source = await world.source();
  let [chunks, index] = [0, 0];
  for await (const chunk of source.entries(stream)) {
    chunks += 1;
    expect(chunk.reduce((sum, { body }) => sum + (body?.length ?? 0), 0)).toBeLessThanOrEqual(9 * 1_048_576);
    for (const entry of chunk) expect(entry.index).toBe(index++);
  }
  expect(index).toBe(740);
  expect(chunks).toBeGreaterThan(5);
  const [first] = await entriesOf(world, stream, 39);
  expect(Buffer.from(first?.body ?? []).equals(bodies[39] ?? Buffer.alloc(0))).toBe(true);
});
