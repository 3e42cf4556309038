// Whether facts and seals are read from their entries as they were written, and whatever else stands there does no harm.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type JournalFact, journalEntryOf, journalEvent } from '../../src/core/journal.ts';
import { type Seal, sealEvent, sealOf } from '../../src/core/seal.ts';

const at = 1_762_813_624_118;
const root = Buffer.alloc(32, 7).toString('base64');
const stream = 'ns/hub/0/epoch';

/** One of each kind: a kind that is missing here does not compile. */
const facts: { readonly [Kind in JournalFact['kind']]: Extract<JournalFact, { kind: Kind }> } = {
  'consumer-started': { kind: 'consumer-started', instance: 'one', version: '1.0.0' },
  'consumer-stopped': { kind: 'consumer-stopped', instance: 'one' },
  'configuration-changed': { kind: 'configuration-changed', instance: 'one', settingsSha256: root },
  'keys-changed': { kind: 'keys-changed', keys: ['a.example+00000000+AA=='] },
  'partition-opened': { kind: 'partition-opened', instance: 'one', stream, size: 3 },
  'partition-closed': { kind: 'partition-closed', instance: 'one', stream, size: 9 },
  'stream-began': { kind: 'stream-began', stream, firstSequenceNumber: 5 },
  'epoch-changed': { kind: 'epoch-changed', stream, earlier: ['ns/hub/0/before'] },
  gap: { kind: 'gap', stream, from: 3, to: 8 },
  parked: { kind: 'parked', stream, entries: [{ index: 4, reason: 'not-json' }] },
  conflict: { kind: 'conflict', stream, index: 4, source: 'urn:x', id: 'e_started' },
  pruned: { kind: 'pruned', stream, from: 0, to: 4, size: 9, root },
  held: { kind: 'held', hold: 'case 7' },
  released: { kind: 'released', hold: 'case 7' },
  anchored: { kind: 'anchored', anchor: 'file:/a', size: 4, reference: null },
  'anchor-failed': { kind: 'anchor-failed', anchor: 'file:/a', size: 4, reason: 'unreachable' },
  'clock-jumped': { kind: 'clock-jumped', instance: 'one', byMs: -5_000 },
  restored: { kind: 'restored', anchor: 'file:/a', earlier: 't1', anchoredSize: 9, anchoredRoot: root },
  unvouched: { kind: 'unvouched', stream, size: 9, root, note: null },
  replayed: { kind: 'replayed', stream, from: 0, to: 8, different: 0 },
  exported: { kind: 'exported', entries: 12 },
  notified: {
    ...{ kind: 'notified', sink: 'ops', type: 'io.github.scheduled-events-bridge.fleet.wave.v1' },
    ...{ id: 'wave-1_wave_3', facts: ['e_scheduled_1', 'e_started'], outcome: 'delivered', reason: null },
    ...{ attempts: 2, settledAt: '2025-11-10T22:27:04.118Z' },
  },
  'notify-position': {
    ...{ kind: 'notify-position', instance: 'one', notifier: 'n1', since: '2025-11-10T22:27:04.118Z' },
    ...{ journal: 7, positions: [{ stream, size: 9 }] },
  },
};

const anyBody = fc.oneof(
  fc.uint8Array(),
  fc.json().map((text) => Buffer.from(text)),
  fc
    .record({
      schema: fc.constantFrom('seb.journal.v1', 'seb.seal.v1', 1, null),
      kind: fc.anything(),
      heads: fc.anything(),
    })
    .map((value) => Buffer.from(JSON.stringify(value) ?? 'null')),
);

describe('a fact', () => {
  it.each(Object.values(facts).map((fact) => [fact.kind, fact] as const))(
    '%s is read as it was written',
    (_, fact) => {
      const event = journalEvent(fact, 12, at);
      expect(event).toMatchObject({ sequenceNumber: 12, enqueuedMs: at });
      expect(journalEntryOf(event)).toEqual({ ...fact, at });
    },
  );

  it('has bytes that stay the same: what was sealed is compared with them', () => {
    expect(Buffer.from(journalEvent(facts.gap, 0, at).body).toString()).toBe(
      '{"schema":"seb.journal.v1","kind":"gap","stream":"ns/hub/0/epoch","from":3,"to":8}',
    );
  });

  it('is none where there are other bytes', () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        const read = journalEntryOf({ body, enqueuedMs: at });
        if (read !== null)
          expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({ schema: 'seb.journal.v1' });
      }),
    );
    const seal = sealEvent({ at, heads: [] }, 0);
    expect(journalEntryOf(seal)).toBeNull();
  });
});

describe('a seal', () => {
  const anyHead = fc.record({
    stream: fc.string(),
    size: fc.maxSafeNat(),
    root: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes)),
  });
  const anySeal: fc.Arbitrary<Seal> = fc.record({
    at: fc.constant(at),
    heads: fc.uniqueArray(anyHead, { selector: ({ stream: name }) => name, maxLength: 6 }),
  });

  it('is read as it was written, in one order whatever order it was given', () => {
    fc.assert(
      fc.property(anySeal, fc.nat(), (seal, index) => {
        const [event, turned] = [seal, { ...seal, heads: seal.heads.toReversed() }].map((each) =>
          sealEvent(each, index),
        );
        if (event === undefined) throw new Error('an event');
        expect(event).toEqual(turned);
        expect(event).toMatchObject({ sequenceNumber: index, enqueuedMs: at });
        const heads = [...seal.heads].sort((a, b) => (a.stream < b.stream ? -1 : 1));
        expect(sealOf(event)).toEqual({ at, heads });
      }),
    );
  });

  it('has bytes that stay the same', () => {
    const heads = [{ stream, size: 9, root: Buffer.alloc(32, 7) }];
    expect(Buffer.from(sealEvent({ at, heads }, 0).body).toString()).toBe(
      `{"schema":"seb.seal.v1","heads":[{"stream":"${stream}","size":9,"root":"${root}"}]}`,
    );
  });

  it('is none where there are other bytes, or a head is none', () => {
    fc.assert(fc.property(anyBody, (body) => void sealOf({ body, enqueuedMs: at })));
    const said = (head: unknown) => Buffer.from(JSON.stringify({ schema: 'seb.seal.v1', heads: [head] }));
    const wrong = [
      null,
      4,
      {},
      { stream, size: 1.5, root },
      { stream, size: 1, root: 'AAAA' },
      { stream: 1, size: 1, root },
    ];
    for (const head of wrong) expect(sealOf({ body: said(head), enqueuedMs: at })).toBeNull();
    expect(sealOf({ body: said({ stream, size: 1, root }), enqueuedMs: at })).not.toBeNull();
  });
});
