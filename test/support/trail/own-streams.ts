// What every store must write down of itself: the journal, in one transaction with what it speaks of, and seals.
import { expect, it } from 'vitest';
import { emptyStream } from '../../../src/audit/store.ts';
import { sealOf } from '../../../src/core/seal.ts';
import { rootOf } from '../../../src/core/tree.ts';
import { asHubEvents, liveMigration } from '../synthetic.ts';
import {
  append,
  entriesOf,
  expectStatus,
  headOf,
  headsOf,
  idOf,
  inHex,
  journalOf,
  later,
  type OpenWorld,
  other,
  ownStreams,
  positionIn,
  restoredFrom,
  sign,
  stream,
} from './world.ts';

const started = { kind: 'consumer-started', instance: 'one', version: '1.0.0' } as const;
const stopped = { kind: 'consumer-stopped', instance: 'one' } as const;

export function keepsItsOwnStreams(openWorld: OpenWorld): void {
  it('says where a stream began, and which one it goes on for after the hub was made anew', async () => {
    await using world = await openWorld();
    await using trail = await world.open({ now: () => 42 });
    await append(trail, asHubEvents(liveMigration(), 7));
    await append(trail, asHubEvents(liveMigration(), 0), other);
    await append(trail, asHubEvents(liveMigration(1), 0), later);
    await append(trail, asHubEvents(liveMigration(2), 3), later);
    expect(await journalOf(world, trail)).toEqual([
      { kind: 'stream-began', stream, firstSequenceNumber: 7, at: 42 },
      { kind: 'stream-began', stream: other, firstSequenceNumber: 0, at: 42 },
      { kind: 'stream-began', stream: later, firstSequenceNumber: 0, at: 42 },
      { kind: 'epoch-changed', stream: later, earlier: [stream], at: 42 },
    ]);
  });

  it('writes the facts that come with an append behind its beginning and before what is odd about it', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    const gap = { kind: 'gap', stream, from: 0, to: 9 } as const;
    await append(trail, asHubEvents([...liveMigration(), 'poison'], 10), stream, [gap]);
    const kinds = (await journalOf(world, trail)).map(({ kind }) => kind);
    expect(kinds).toEqual(['stream-began', 'gap', 'parked']);
  });

  it('keeps facts that come without events, and leaves the stream where it is', async () => {
    await using world = await openWorld();
    await using trail = await world.open();
    await append(trail, asHubEvents(liveMigration()));
    const before = await headOf(trail, stream);
    expect(await append(trail, [], stream, [{ kind: 'gap', stream, from: 3, to: 4 }])).toMatchObject({
      status: 'appended',
      position: { size: 3, lastSequenceNumber: 2 },
      counts: { entries: 0 },
    });
    expect(inHex(await headOf(trail, stream))).toEqual(inHex(before));
    expect((await journalOf(world, trail)).map(({ kind }) => kind)).toEqual(['stream-began', 'gap']);
  });

  it('appends facts of several instances to one journal, none lost and none twice', async () => {
    await using world = await openWorld();
    await using one = await world.open();
    await using two = await world.open();
    expect(await one.journal([started, stopped])).toEqual({ status: 'written' });
    const written = await Promise.all(
      Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? one : two).journal([started])),
    );
    expect(new Set(written.map(({ status }) => status))).toEqual(new Set(['written']));
    const { journal } = await ownStreams(two);
    const entries = await entriesOf(world, journal);
    expect(entries.map(({ index, sequenceNumber }) => [index, sequenceNumber])).toEqual(
      Array.from({ length: 10 }, (_, at) => [at, at]),
    );
    expect(await two.trail()).toEqual(await one.trail());
  });

  it('seals heads by name, and keeps their notes when the streams have grown', async () => {
    await using world = await openWorld();
    await using trail = await world.open({ sign, now: () => 77 });
    await append(trail, asHubEvents(liveMigration()));
    await append(trail, asHubEvents(liveMigration()), other);
    const sealed = await headsOf(trail);
    expect(await trail.seal(emptyStream, sealed)).toMatchObject({
      status: 'appended',
      position: { size: 1, lastSequenceNumber: 0 },
    });
    await append(trail, asHubEvents(liveMigration(1), 3));
    const { seal } = await ownStreams(trail);
    const [entry] = await entriesOf(world, seal);
    const said = sealOf({ body: entry?.body ?? Buffer.alloc(0), enqueuedMs: entry?.enqueuedMs ?? 0 });
    expect(said?.at).toBe(77);
    expect(said?.heads.map(({ stream: name, size }) => [name, size])).toEqual(
      sealed.map(({ name, size }) => [name, size]),
    );
    for (const { name, size, tree, note } of sealed) {
      const head = said?.heads.find((each) => each.stream === name);
      expect(Buffer.from(head?.root ?? '')).toEqual(Buffer.from(rootOf(tree)));
      expect(await pinned(world, name)).toEqual([{ size, note }]);
    }
    expect(await headOf(trail, seal)).toMatchObject({
      kind: 'seal',
      note: sign(seal, (await headOf(trail, seal)).tree),
    });
  });

  it('lets one of two instances seal, and the other one know', async () => {
    await using world = await openWorld();
    await using one = await world.open({ sign });
    await using two = await world.open({ sign });
    await append(one, asHubEvents(liveMigration()));
    const heads = await headsOf(one);
    const results = await Promise.all([one.seal(emptyStream, heads), two.seal(emptyStream, heads)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['appended', 'moved']);
    const { seal } = await ownStreams(one);
    expect(await positionIn(two, seal)).toEqual({ size: 1, lastSequenceNumber: 0 });
    // Nothing changed: an idle seal names nothing.
    expect(await two.seal({ size: 1, lastSequenceNumber: 0 }, [])).toMatchObject({ status: 'appended' });
    expect(await pinned(world, stream)).toHaveLength(1);
  });

  it('begins its own streams anew once, however many instances find the same at the same time', async () => {
    await using world = await openWorld();
    await using one = await world.open({ sign });
    await using two = await world.open({ sign });
    const restored = restoredFrom(await idOf(one));
    await two.trail();
    const renewed = await Promise.all([one, two, one, two].map((trail) => trail.renew(restored)));
    expect(new Set(renewed.map((each) => expectStatus(each, 'known').trail)).size).toBe(1);
    expect((await journalOf(world, one)).map(({ kind }) => kind)).toEqual(['restored']);
  });

  it('begins its own streams anew under another id, and leaves all others', async () => {
    await using world = await openWorld();
    await using trail = await world.open({ sign });
    await using second = await world.open({ sign });
    await append(trail, asHubEvents(liveMigration()));
    const [before, old] = [await headsOf(trail), await ownStreams(trail)];
    const restored = restoredFrom(await idOf(trail));
    const renewed = expectStatus(await trail.renew(restored), 'known');
    expect(await second.trail()).toEqual(renewed);
    expect(old.journal).not.toContain(renewed.trail);
    // The second instance found the same, and came too late.
    expect(await second.renew(restored)).toEqual(renewed);
    expect((await journalOf(world, second)).map(({ kind }) => kind)).toEqual(['restored']);
    await second.journal([started]);
    expect((await journalOf(world, trail)).map(({ kind }) => kind)).toEqual(['restored', 'consumer-started']);
    const after = await headsOf(trail);
    expect(before.every(({ name }) => after.some((head) => head.name === name))).toBe(true);
    expect(inHex(await headOf(trail, stream))).toEqual(inHex(before.find(({ name }) => name === stream)));
    await using source = await world.source();
    expect(source.trail).toBe(renewed.trail);
  });
}

async function pinned(world: Awaited<ReturnType<OpenWorld>>, name: string) {
  await using source = await world.source();
  const notes = [];
  for await (const chunk of source.notes(name)) notes.push(...chunk);
  return notes;
}
