// What is missing, late, odd or not given: each honest incompleteness is named and never passes as verified.
//
// What other verifiers are tested with, in this trail's terms (m: mutation-matrix.test.ts, c: copies, a: alive):
// digest deleted, invalid or without its keys: a seal removed, that is none, or without its heads (m);
// no digest for a time: hours without a seal; none in range: a time in which nothing came; log changed or deleted: body,
// row, partition (m), file (c); data behind the end: a row behind the last head (m), bytes between heads (c);
// digest or log moved: a file of another day (c), a note of another stream (m); signature missing or of an unknown key:
// (m), a wrong key; two chains in one place: an anchor of another trail, an older copy put back;
// a file that nobody sealed: a trail never sealed or never signed; cut short: (a, c); a seal from the future; verifying
// while it is written, and an old head signed with a key of today: (a).
import { afterAll, expect, test } from 'vitest';
import { checkpointText } from '../../../src/core/checkpoint.ts';
import type { FindingCode } from '../../../src/core/finding.ts';
import type { JournalFact } from '../../../src/core/journal.ts';
import { signNote } from '../../../src/core/signed-note.ts';
import { localStreams } from '../../../src/core/stream.ts';
import {
  fillHonestly,
  type Keeper,
  keyNamed,
  migrations,
  signWith,
  startFacts,
  streamOf,
} from '../../support/honest-trail.ts';
import { asHubEvents, freeze, saying, synthesisAt } from '../../support/synthetic.ts';
import {
  type Asked,
  found,
  honestKey,
  type KeptTrail,
  keptTrail,
  verifiedFile,
} from '../../support/verifying.ts';

const hour = 3_600_000;

/** A head as the honest key signs it. */
const signedHead = (origin: string, head: { readonly size: number; readonly root: Uint8Array }): string =>
  signNote(checkpointText(origin, head), [honestKey]);

interface Scenario {
  readonly name: string;
  /** What the consumer did; the honest story unless given. */
  readonly fill?: (keeper: Keeper) => Promise<void>;
  /** How it is verified, besides with the right key, the anchor and the right time. */
  readonly ask?: (keeper: Keeper) => Asked;
  readonly exit: 0 | 10 | 11;
  /** Everything that is not only a note. */
  readonly names: readonly string[];
}

const gap = (from: number, to: number): JournalFact => ({ kind: 'gap', stream: streamOf(0), from, to });

/** Seals and anchors an honest beginning. */
async function begin(keeper: Keeper): Promise<void> {
  await keeper.journal(...startFacts([keeper.verifier.text]));
}

async function end(keeper: Keeper): Promise<void> {
  await keeper.seal();
  await keeper.anchor();
}

/** One agent that says these numbers, the records 1 s apart in the hub. */
const numbered = (sequences: readonly number[], everyMs = 1_000) =>
  asHubEvents(
    sequences.map((sequence) => saying({ kind: 'scheduled', vm: 1, sequence, event: freeze(sequence) })),
  ).map((event, place) => ({ ...event, enqueuedMs: synthesisAt + place * everyMs }));

const filledWith = (fill: (keeper: Keeper) => Promise<void>) => async (keeper: Keeper) => {
  await begin(keeper);
  await fill(keeper);
  await end(keeper);
};

const scenarios: readonly Scenario[] = [
  { name: 'a whole trail', exit: 0, names: [] },
  // What is not given.
  { name: 'no anchor', ask: () => ({ anchored: '' }), exit: 11, names: ['no-anchor'] },
  { name: 'no key', ask: () => ({ keys: [] }), exit: 11, names: ['no-keys'] },
  {
    name: 'a wrong key',
    ask: () => ({ keys: [keyNamed('wrong.example/key').verifier] }),
    ...{
      exit: 10,
      names: [
        'signature-unknown p0:24',
        'signature-unknown p1:24',
        'signature-unknown journal:6',
        'signature-unknown seal:5',
        'anchor-unverified',
        'no-anchor',
      ],
    },
  },
  {
    name: 'the right key and another one',
    ask: () => ({ keys: [keyNamed('other.example/key').verifier, honestKey.verifier] }),
    ...{ exit: 0, names: [] },
  },
  {
    name: 'an anchor that holds nothing of this trail',
    ask: () => ({
      anchored: `${signWith(honestKey)(localStreams('another').seal, { size: 0, range: [] })}\n`,
    }),
    ...{ exit: 10, names: ['trail-replaced seal'] },
  },
  {
    name: 'an anchor that also holds another trail',
    ask: ({ anchored }) => ({
      anchored: `${anchored.join('')}${signWith(honestKey)(localStreams('another').seal, { size: 0, range: [] })}\n`,
    }),
    ...{ exit: 11, names: ['anchor-of-others'] },
  },
  {
    name: 'an anchor to which somebody without the key added a head',
    ask: ({ anchored, key }) => ({
      anchored: `${anchored.join('')}${anchored.join('').replaceAll(key.verifier.name, 'somebody')}`,
    }),
    ...{ exit: 11, names: ['anchor-unverified'] },
  },
  // Nobody signs, or not always.
  {
    name: 'a trail that nobody signs',
    fill: async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      await keeper.seal();
    },
    ask: () => ({ keys: [] }),
    ...{ exit: 11, names: ['unsigned', 'no-anchor'] },
  },
  // Time.
  {
    name: 'a seal of two and a half hours ago',
    ask: ({ clock }) => ({ now: clock.at + 2.5 * hour }),
    exit: 11,
    names: ['stale'],
  },
  {
    name: 'an old copy, whose age does not matter',
    ask: ({ clock }) => ({ now: clock.at + 1_000 * hour, maxAgeMs: null }),
    ...{ exit: 0, names: [] },
  },
  {
    name: 'a seal from the future',
    ask: ({ clock }) => ({ now: clock.at - 5 * 60_000 }),
    ...{ exit: 11, names: ['seal-in-future seal:0'] },
  },
  {
    name: 'a clock that was set back, and nobody says so',
    fill: filledWith(async (keeper) => {
      await keeper.append(0, migrations(0, 1));
      await keeper.seal();
      keeper.clock.at -= hour;
    }),
    ask: ({ clock }) => ({ now: clock.at + hour }),
    ...{ exit: 11, names: ['seal-time-back seal:1'] },
  },
  {
    name: 'a clock that was set back, as the journal says',
    fill: filledWith(async (keeper) => {
      await keeper.append(0, migrations(0, 1));
      await keeper.seal();
      keeper.clock.at -= hour;
      await keeper.journal({ kind: 'clock-jumped', instance: 'one', byMs: -hour });
    }),
    ask: ({ clock }) => ({ now: clock.at + hour }),
    ...{ exit: 0, names: [] },
  },
  {
    name: 'hours without a seal while a consumer ran',
    fill: filledWith(async (keeper) => {
      await keeper.seal();
      keeper.clock.at += 3 * hour;
      await keeper.append(0, migrations(0, 1));
    }),
    ...{ exit: 11, names: ['seal-hole seal:1'] },
  },
  {
    name: 'hours without a seal because no consumer ran',
    fill: filledWith(async (keeper) => {
      await keeper.seal();
      keeper.clock.at += 3 * hour;
      await keeper.journal(...startFacts([]));
      await keeper.append(0, migrations(0, 1));
    }),
    ...{ exit: 0, names: [] },
  },
  {
    name: 'an hour and a bit between idle seals',
    fill: filledWith(async (keeper) => {
      await keeper.append(0, migrations(0, 1));
      await keeper.seal();
      keeper.clock.at += hour;
    }),
    ...{ exit: 0, names: [] },
  },
  // What no seal names yet.
  {
    name: 'entries of a moment ago, which wait for a seal',
    fill: async (keeper) => {
      await fillHonestly(keeper);
      await keeper.append(0, migrations(0, 1, 8));
    },
    ...{ exit: 0, names: [] },
  },
  {
    name: 'entries that nothing sealed for ten minutes',
    fill: async (keeper) => {
      await fillHonestly(keeper);
      await keeper.append(0, migrations(0, 1, 8));
    },
    ask: ({ clock }) => ({ now: clock.at + 600_000 }),
    ...{ exit: 11, names: ['unsealed p0:24'] },
  },
  {
    name: 'a trail that was never sealed',
    fill: async (keeper) => {
      await begin(keeper);
      await keeper.append(0, migrations(0, 1));
    },
    ask: ({ clock }) => ({ now: clock.at + 600_000, anchored: '' }),
    ...{ exit: 11, names: ['unsealed p0:0', 'unsealed journal:0', 'no-anchor'] },
  },
  {
    name: 'nothing anchored for hours',
    fill: async (keeper) => {
      await fillHonestly(keeper);
      for (let seal = 0; seal < 4; seal += 1) {
        keeper.clock.at += hour - 60_000;
        await keeper.seal();
      }
    },
    ...{ exit: 11, names: ['anchor-behind seal:5'] },
  },
  // Numbers that are missing.
  {
    name: 'a gap that the journal explains',
    fill: filledWith(async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      await keeper.append(0, migrations(0, 2, 5), [gap(6, 14)]);
    }),
    ...{ exit: 11, names: ['gap p0:6'] },
  },
  {
    name: 'a gap that is explained in two facts',
    fill: filledWith(async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      await keeper.append(0, migrations(0, 2, 5), [gap(6, 9), gap(10, 14)]);
    }),
    ...{ exit: 11, names: ['gap p0:6'] },
  },
  {
    name: 'a gap that nobody explains',
    fill: filledWith(async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      await keeper.append(0, migrations(0, 2, 5));
    }),
    ...{ exit: 11, names: ['gap-unexplained p0:6'] },
  },
  {
    name: 'a gap that is explained in part',
    fill: filledWith(async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      await keeper.append(0, migrations(0, 2, 5), [gap(6, 13)]);
    }),
    ...{ exit: 11, names: ['gap-unexplained p0:6'] },
  },
  {
    name: 'a gap that is known and accepted',
    fill: filledWith(async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      await keeper.append(0, migrations(0, 2, 5), [gap(6, 14)]);
    }),
    ask: () => ({ accept: new Set<FindingCode>(['gap']) }),
    ...{ exit: 0, names: [] },
  },
  {
    name: 'a gap before the time that was asked for',
    fill: filledWith(async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      await keeper.append(0, migrations(0, 2, 5), [gap(6, 14)]);
    }),
    ask: () => ({ range: { since: synthesisAt + 16_000, until: Number.POSITIVE_INFINITY } }),
    ...{ exit: 0, names: [] },
  },
  {
    name: 'a hub that was older than the trail',
    fill: filledWith((keeper) => keeper.append(0, migrations(0, 2, 100))),
    ...{ exit: 0, names: [] },
  },
  // What agents counted.
  {
    name: 'an agent whose record never came',
    fill: filledWith((keeper) => keeper.append(0, numbered([1, 2, 4, 5], 60_000))),
    ...{ exit: 11, names: ['agent-hole'] },
  },
  {
    name: 'an agent whose record may still be under way',
    fill: filledWith((keeper) => keeper.append(0, numbered([1, 2, 4, 5]))),
    ...{ exit: 0, names: [] },
  },
  {
    name: 'an agent whose records came late, twice and in any order',
    fill: filledWith((keeper) => keeper.append(0, numbered([5, 1, 3, 3, 2, 4, 1, 6], 60_000))),
    ...{ exit: 0, names: [] },
  },
  // Pruned, and put back.
  {
    name: 'bodies pruned, as the journal says',
    fill: async (keeper) => {
      await fillHonestly(keeper);
      await keeper.store.prune(synthesisAt + 12_000);
      await end(keeper);
    },
    ...{ exit: 0, names: [] },
  },
  {
    name: 'an older copy put back, which the consumer noticed',
    fill: async (keeper) => {
      await fillHonestly(keeper);
      const known = await keeper.store.trail();
      const earlier = known.status === 'known' ? known.trail : '';
      const lost = { size: 9, root: Buffer.alloc(32, 9) };
      keeper.anchored.push(`${signedHead(localStreams(earlier).seal, lost)}\n`);
      const root = lost.root.toString('base64');
      const restored = { kind: 'restored', anchor: 'elsewhere', earlier } as const;
      await keeper.store.renew({ ...restored, anchoredSize: lost.size, anchoredRoot: root });
      keeper.forget();
      await keeper.append(0, migrations(0, 1, 8));
      await end(keeper);
    },
    ...{ exit: 11, names: ['restored seal:5'] },
  },
  {
    name: 'an older copy put back, of which more was lost than the consumer noticed',
    fill: async (keeper) => {
      await fillHonestly(keeper);
      const known = await keeper.store.trail();
      const earlier = known.status === 'known' ? known.trail : '';
      const lost = { size: 9, root: Buffer.alloc(32, 9) };
      keeper.anchored.push(`${signedHead(localStreams(earlier).seal, lost)}\n`);
      const root = lost.root.toString('base64');
      const restored = { kind: 'restored', anchor: 'elsewhere', earlier } as const;
      await keeper.store.renew({ ...restored, anchoredSize: lost.size - 1, anchoredRoot: root });
      keeper.forget();
      await end(keeper);
    },
    ...{ exit: 10, names: ['trail-cut seal:5'] },
  },
  // Nothing to find.
  {
    name: 'a time in which nothing came',
    ask: () => ({ range: { since: synthesisAt + hour, until: synthesisAt + 2 * hour } }),
    ...{ exit: 11, names: ['nothing-in-range'] },
  },
  {
    name: 'a trail to which nothing ever came',
    fill: filledWith(async () => undefined),
    ...{ exit: 11, names: ['nothing-in-range'] },
  },
];

const trails = new Map<Scenario['fill'], Promise<KeptTrail>>();
afterAll(async () => {
  for (const trail of trails.values()) (await trail)[Symbol.dispose]();
});

/** Scenarios that differ only in how they are verified share a trail. */
function trailOf({ fill = fillHonestly, name }: Scenario): Promise<KeptTrail> {
  const signs = name !== 'a trail that nobody signs';
  const made = trails.get(fill) ?? keptTrail(fill, signs ? honestKey : null);
  trails.set(fill, made);
  return made;
}

test.each(scenarios)('$name: exit $exit', async (scenario) => {
  const { keeper, path } = await trailOf(scenario);
  const usual = { now: keeper.clock.at + 10_000, anchored: keeper.anchored.join('') };
  const asked = { ...usual, ...scenario.ask?.(keeper) };
  const report = await verifiedFile(path, asked);
  expect({ exit: report.exitCode, names: found(report) }).toEqual({
    exit: scenario.exit,
    names: expect.toSatisfy(
      (names: string[]) => names.toSorted().join('\n') === scenario.names.toSorted().join('\n'),
    ),
  });
  expect(report.sentence).toMatch({ 0: /^VERIFIED /, 10: /^TAMPERED /, 11: /^INCOMPLETE / }[scenario.exit]);
});
