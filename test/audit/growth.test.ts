// What an append says of itself stays small, however odd the batch that brought it.
import { expect, it } from 'vitest';
import { beginningOf, oddities } from '../../src/audit/growth.ts';
import { batchLengthMax } from '../../src/consumer/hub.ts';
import { journalEvent } from '../../src/core/journal.ts';
import { hashBody } from '../../src/core/leaf.ts';
import { nothingKnown, projectBatch } from '../../src/core/projection.ts';
import { readBatch } from '../../src/core/read-batch.ts';
import { encodeRecord } from '../../src/core/record.ts';
import { asHubEvents, liveMigration, saying } from '../support/synthetic.ts';

const stream = 'ns/hub/0/20261110T000000000Z';

/** The sizes of the facts that a batch of these bodies brings, in bytes. */
function sizesOf(bodies: readonly Uint8Array[]): number[] {
  const entries = bodies.map((body, index) => ({ stream, index, body, bodySha256: hashBody(body) }));
  const facts = oddities(stream, projectBatch(readBatch(entries), nothingKnown));
  return facts.map((fact) => journalEvent(fact, Number.MAX_SAFE_INTEGER, 0).body.length);
}

it('names every poisoned entry of a whole batch in one fact of a few kilobytes', () => {
  const sizes = sizesOf(Array.from({ length: batchLengthMax }, () => Buffer.from('{"specversion":"1.0"}')));
  expect(sizes).toHaveLength(1);
  expect(sizes[0]).toBeLessThan(16_384);
});

it('names each contradiction in a fact of its own, however long the ids are', () => {
  // The longest that is read; each of its characters takes six in JSON.
  const id = '\u0001'.repeat(1_024);
  const record = { ...saying({ kind: 'scheduled' }), id, source: id };
  const bodies = Array.from({ length: batchLengthMax }, (_, noticeSeconds) =>
    encodeRecord({ ...record, data: { ...record.data, noticeSeconds } }),
  );
  const sizes = sizesOf(bodies);
  expect(sizes).toHaveLength(1);
  expect(Math.max(...sizes)).toBeLessThan(16_384);
});

it('says of a stream of a hub where it began, and names every earlier one of its partition in one order', () => {
  const others = ['20261109', '20261107', '20261108'].map((day) => `ns/hub/0/${day}T000000000Z`);
  const elsewhere = 'ns/hub/1/20261107T000000000Z';
  const events = asHubEvents(liveMigration(), 5);
  expect(beginningOf(stream, events, [...others, elsewhere, stream])).toEqual([
    { kind: 'stream-began', stream, firstSequenceNumber: 5 },
    { kind: 'epoch-changed', stream, earlier: others.toSorted() },
  ]);
  expect(beginningOf(stream, [], others)).toEqual([]);
});

it('says nothing of where its own streams began', () => {
  expect(beginningOf('trail/one/journal', asHubEvents(liveMigration()), [stream])).toEqual([]);
});
