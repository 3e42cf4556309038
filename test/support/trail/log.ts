// What every store must do with entries: all or nothing, once only, sealed by a tree.
import { expect, it } from 'vitest';
import { emptyStream } from '../../../src/audit/store.ts';
import { checkpointText } from '../../../src/core/checkpoint.ts';
import { journalEvent } from '../../../src/core/journal.ts';
import { openNote } from '../../../src/core/signed-note.ts';
import { asHubEvents, freeze, liveMigration, saying, synthesisAt } from '../synthetic.ts';
import {
  append,
  entriesOf,
  expectStatus,
  headOf,
  headsOf,
  inHex,
  journalOf,
  type OpenWorld,
  other,
  ownStreams,
  positionIn,
  sign,
  signer,
  stream,
  treeOver,
} from './world.ts';

export function keepsALog(openWorld: OpenWorld): void {
  it('stores the raw bytes, moves the position, and holds both after it was opened again', async () => {
    await using world = await openWorld();
    const events = asHubEvents(liveMigration(), 7);
    {
      await using trail = await world.open();
      expect(await trail.position(stream)).toEqual({ status: 'known', position: emptyStream });
      expect(await append(trail, events)).toEqual({
        status: 'appended',
        position: { size: 3, lastSequenceNumber: 9 },
        counts: { entries: 3, records: 3, repeats: 0, conflicts: 0, parked: 0 },
      });
    }
    await using trail = await world.open();
    expect(await positionIn(trail)).toEqual({ size: 3, lastSequenceNumber: 9 });
    const stored = await entriesOf(world, stream);
    expect(stored.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(stored.map(({ sequenceNumber }) => sequenceNumber)).toEqual([7, 8, 9]);
    expect(stored.map(({ enqueuedMs }) => enqueuedMs)).toEqual(events.map(({ enqueuedMs }) => enqueuedMs));
    expect(stored.map(({ body }) => Buffer.from(body ?? []))).toEqual(
      events.map(({ body }) => Buffer.from(body)),
    );
  });

  it('writes nothing from a place where the stream no longer stands, and says where it stands', async () => {
    await using world = await openWorld();
    await using one = await world.open();
    await using two = await world.open();
    await append(one, asHubEvents(liveMigration()));
    const before = await headsOf(one);
    const stale = [
      emptyStream,
      { size: 2, lastSequenceNumber: 2 },
      { size: 3, lastSequenceNumber: 1 },
      { size: 4, lastSequenceNumber: 3 },
    ];
    const fact = { kind: 'gap', stream, from: 3, to: 5 } as const;
    for (const at of stale) {
      expect(await two.append(stream, at, asHubEvents(liveMigration(1), 6), [fact])).toEqual({
        status: 'moved',
        position: { size: 3, lastSequenceNumber: 2 },
      });
    }
    expect(inHex(await headsOf(two))).toEqual(inHex(before));
    await using reader = await world.reader();
    expect(await reader.counts()).toMatchObject({ entries: 3, events: 1 });
  });

  it('takes what two instances bring at the same time once, whoever is first', async () => {
    await using world = await openWorld();
    await using one = await world.open();
    await using two = await world.open();
    const events = asHubEvents(liveMigration());
    const results = await Promise.all(
      [one, two, one, two].map((trail) => trail.append(stream, emptyStream, events)),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(['appended', 'moved', 'moved', 'moved']);
    expect(await positionIn(two)).toEqual({ size: 3, lastSequenceNumber: 2 });
    expect((await entriesOf(world, stream)).map(({ sequenceNumber }) => sequenceNumber)).toEqual([0, 1, 2]);
  });

  it('takes appends of two instances to two streams at the same time', async () => {
    await using world = await openWorld();
    await using one = await world.open();
    await using two = await world.open();
    for (let round = 0; round < 5; round++) {
      // The same events in both streams, so that they meet in the projections as well.
      const events = asHubEvents([...liveMigration(round), ...liveMigration(round, 1)], 6 * round);
      const at = { size: 6 * round, lastSequenceNumber: 6 * round - 1 };
      const results = await Promise.all([one.append(stream, at, events), two.append(other, at, events)]);
      expect(results.map(({ status }) => status)).toEqual(['appended', 'appended']);
    }
    expect(await one.check()).toMatchObject({ entries: 60, different: [], damaged: [] });
    await using reader = await world.reader();
    expect(await reader.counts()).toMatchObject({ entries: 60, records: 30, repeats: 30, events: 5 });
  });

  it('keeps a record that comes again as an entry and a repeat, but no second fact', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration()));
    expect(await append(trail, asHubEvents(liveMigration(), 3))).toMatchObject({
      counts: { entries: 3, records: 0, repeats: 3, conflicts: 0, parked: 0 },
    });
    await using reader = await world.reader();
    expect(await reader.counts()).toMatchObject({
      entries: 6,
      records: 3,
      repeats: 3,
      conflicts: 0,
      events: 1,
    });
  });

  it('keeps both of what has one source and id and other bytes, and says so in the journal', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    const record = saying({ kind: 'started', event: freeze(0, { eventStatus: 'Started' }) });
    const forged = { ...record, data: { ...record.data, noticeSeconds: 7 } };
    expect(await append(trail, asHubEvents([record, forged, forged], 10))).toMatchObject({
      counts: { entries: 3, records: 1, repeats: 1, conflicts: 1 },
    });
    await using reader = await world.reader();
    expect(await reader.counts()).toMatchObject({ entries: 3, records: 1, repeats: 1, conflicts: 1 });
    expect((await journalOf(world, trail)).at(-1)).toMatchObject({
      ...{ kind: 'conflict', stream, index: 1, source: record.source, id: record.id },
    });
  });

  it('parks what cannot be read with the reason, and says so in the journal', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    const poison = [Buffer.from([0xff]), '', 'null', '[]', '{"specversion":"1.0"}'];
    expect(await append(trail, asHubEvents([...liveMigration(), ...poison]))).toMatchObject({
      counts: { entries: 8, records: 3, parked: 5 },
    });
    expect((await journalOf(world, trail)).at(-1)).toMatchObject({
      kind: 'parked',
      stream,
      entries: [
        { index: 3, reason: 'not-utf8' },
        { index: 4, reason: 'not-json' },
        { index: 5, reason: 'not-a-cloudevent' },
        { index: 6, reason: 'not-a-cloudevent' },
        { index: 7, reason: 'not-a-cloudevent' },
      ],
    });
  });

  it('keeps any bytes as they are, empty ones and a megabyte too', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    const bodies = [
      Buffer.alloc(0),
      Buffer.from([0, 0xff, 0]),
      Buffer.alloc(1_048_576, 0xc3),
      '\u0000\\x00\u{1f4a5}',
    ];
    await append(trail, asHubEvents(bodies));
    const stored = await entriesOf(world, stream);
    expect(stored.map(({ body }) => Buffer.from(body ?? 'gone').toString('hex'))).toEqual(
      bodies.map((body) => Buffer.from(body).toString('hex')),
    );
    expect(await trail.check()).toMatchObject({ entries: 4, different: [], damaged: [] });
  });

  it('seals each stream with the tree over its entries, and signs its head with every append', async () => {
    await using world = await openWorld();
    await using trail = await world.open({ sign });
    for (let round = 0; round < 5; round++) await append(trail, asHubEvents(liveMigration(round), 3 * round));
    await append(trail, asHubEvents(['poison']), other);
    const heads = await headsOf(trail);
    expect(heads.map(({ name }) => name)).toEqual([stream, other, (await ownStreams(trail)).journal]);
    for (const { name, tree, size, note } of heads) {
      const entries = await entriesOf(world, name);
      expect(inHex(tree)).toEqual(inHex(treeOver(entries)));
      expect(size).toBe(entries.length);
      const opened = expectStatus(openNote(note ?? '', [signer.verifier]), 'verified');
      expect(opened.text).toBe(checkpointText(name, tree));
    }
    expect(await headOf(trail, stream)).toMatchObject({
      ...{ kind: 'hub', size: 15, lastSequenceNumber: 14, lastEnqueuedMs: synthesisAt + 14_000 },
    });
  });

  it('has no note of a head that nobody signed', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration()));
    expect((await headsOf(trail)).map(({ note }) => note)).toEqual([null, null]);
  });

  it('gives entries from any index on, as many as were asked for', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration(), 5));
    const read = async (from: number, limit: number) => {
      const { entries } = expectStatus(await trail.read(stream, from, limit), 'known');
      return entries.map(({ index, sequenceNumber }) => `${index}:${sequenceNumber}`);
    };
    expect(await read(0, 9)).toEqual(['0:5', '1:6', '2:7']);
    expect(await read(1, 1)).toEqual(['1:6']);
    expect(await read(3, 9)).toEqual([]);
    expect(expectStatus(await trail.read(other, 0, 9), 'known').entries).toEqual([]);
    expect(inHex(expectStatus(await trail.read(stream, 0, 9), 'known').entries)).toEqual(
      inHex(await entriesOf(world, stream)),
    );
  });

  it('gives the last entry of a stream, and null of one that has none', async () => {
    await using world = await openWorld();
    const now = synthesisAt + 5;
    await using trail = await world.open({ now: () => now });
    expect(await trail.tail(stream)).toEqual({ status: 'known', tail: null });
    const fact = { kind: 'consumer-stopped', instance: 'one' } as const;
    await append(trail, asHubEvents(liveMigration(), 4), stream, [fact]);
    const { tail } = expectStatus(await trail.tail(stream), 'known');
    expect(tail).toMatchObject({ index: 2, sequenceNumber: 6 });
    const journal = expectStatus(await trail.tail((await ownStreams(trail)).journal), 'known').tail;
    expect(Buffer.from(journal?.body ?? '')).toEqual(Buffer.from(journalEvent(fact, 1, now).body));
  });
}
