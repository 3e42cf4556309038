// What every store must show of itself to whoever checks, proves or copies it: one moment, whole.
import { expect, it } from 'vitest';
import { emptyStream } from '../../../src/audit/store.ts';
import { rootOf } from '../../../src/core/tree.ts';
import { asHubEvents, liveMigration, saying } from '../synthetic.ts';
import { append, headsOf, inHex, type OpenWorld, other, ownStreams, sign, stream } from './world.ts';

export function canBeRead(openWorld: OpenWorld): void {
  it('lists its streams by name, with size, root and note', async () => {
    await using world = await openWorld();
    await using trail = await world.open({ sign });
    await append(trail, asHubEvents(liveMigration()), other);
    await append(trail, asHubEvents(liveMigration(1)));
    await using source = await world.source();
    const heads = await headsOf(trail);
    const listed = heads.map(({ name, kind, size, tree, note, lastSequenceNumber }) => ({
      name,
      kind,
      size,
      root: rootOf(tree),
      note,
      lastSequenceNumber,
    }));
    expect(inHex(await source.streams())).toEqual(inHex(listed));
    expect(source.trail).not.toBeNull();
    expect((await ownStreams(trail)).journal).toContain(String(source.trail));
  });

  it('gives the entries of a stream in chunks, from any index on, and nothing of a stream that is none', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    const bodies = Array.from({ length: 1_203 }, (_, at) => `body ${at}`);
    await append(trail, asHubEvents(bodies));
    await append(trail, asHubEvents(['elsewhere']), other);
    await using source = await world.source();
    for (const from of [0, 1, 500, 1_202, 1_203]) {
      const chunks = [];
      for await (const chunk of source.entries(stream, from)) chunks.push(chunk);
      expect(Math.max(0, ...chunks.map(({ length }) => length))).toBeLessThan(1_203);
      const read = chunks.flat();
      expect(read.map(({ index }) => index)).toEqual(bodies.map((_, at) => at).slice(from));
      expect(read.map(({ body }) => Buffer.from(body ?? []).toString())).toEqual(bodies.slice(from));
    }
    for await (const chunk of source.entries('ns/hub/9/none')) expect(chunk).toEqual([]);
    for await (const chunk of source.notes('ns/hub/9/none')) expect(chunk).toEqual([]);
  });

  it('sees nothing of what is written meanwhile', async () => {
    await using world = await openWorld();
    await using trail = await world.open({ sign });
    await append(trail, asHubEvents(liveMigration()));
    await trail.seal(emptyStream, await headsOf(trail));
    await using source = await world.source();
    const before = await source.streams();
    const late = saying({ kind: 'scheduled', vm: 3 });
    await append(trail, asHubEvents([late, ...liveMigration()], 3));
    await append(trail, asHubEvents(liveMigration()), other);
    await trail.prune(Number.MAX_SAFE_INTEGER);
    expect(inHex(await source.streams())).toEqual(inHex(before));
    for await (const chunk of source.entries(stream)) {
      expect(chunk.map(({ index, body }) => [index, body === null])).toEqual([
        [0, false],
        [1, false],
        [2, false],
      ]);
    }
    for await (const chunk of source.entries(other)) expect(chunk).toEqual([]);
    expect(await source.check?.()).toMatchObject({ entries: 3, pruned: 0, different: [], damaged: [] });
    // Another VM says the same fact: one id, two sources.
    expect(await source.find?.(late.id)).toHaveLength(1);
    await using after = await world.source();
    expect((await after.streams()).map(({ size }) => size)).toEqual(expect.arrayContaining([7]));
    expect(await after.find?.(late.id)).toHaveLength(2);
  });

  it('finds a record by its id, in every version and from every source', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    const record = saying({ kind: 'scheduled' });
    const version = { ...record, data: { ...record.data, noticeSeconds: 7 } };
    await append(trail, asHubEvents([record, saying({ kind: 'scheduled', vm: 1 }), version, record]));
    await append(trail, asHubEvents([saying({ kind: 'scheduled', vm: 2 })]), other);
    await using source = await world.source();
    const { id } = record;
    const found = await source.find?.(id);
    expect(found?.map(({ stream: name, index }) => [name, index])).toEqual([
      [stream, 0],
      [stream, 1],
      [stream, 2],
      [other, 0],
    ]);
    expect(found?.[0]).toEqual({ id, source: record.source, stream, index: 0 });
    expect(await source.find?.('nobody said this')).toEqual([]);
  });

  it('says whether its projections are what its entries give', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration()));
    await world.tamper(`UPDATE event SET status = 'canceled'`);
    await using source = await world.source();
    expect(await source.check?.()).toMatchObject({ entries: 3, different: ['event'], damaged: [] });
  });
}
