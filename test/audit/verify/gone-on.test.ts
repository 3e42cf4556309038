// What somebody without the key added, and an honest consumer then went on from: its signature must not hide it.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { openSqliteTrail } from '../../../src/audit/sqlite.ts';
import { type JournalFact, journalEvent } from '../../../src/core/journal.ts';
import type { HubEvent } from '../../../src/core/leaf.ts';
import { hashBody } from '../../../src/core/leaf.ts';
import type { SignerKey } from '../../../src/core/signed-note.ts';
import { localStreams } from '../../../src/core/stream.ts';
import { encodeRange, rootOf } from '../../../src/core/tree.ts';
import { exportedFolder } from '../../support/exported-folder.ts';
import {
  fillHonestly,
  type Keeper,
  keeperOf,
  keyNamed,
  migrations,
  signWith,
  streamOf,
  TrailClock,
} from '../../support/honest-trail.ts';
import { runNode } from '../../support/process.ts';
import { projectRoot } from '../../support/source-files.ts';
import { synthesisAt } from '../../support/synthetic.ts';
import { type OpenedTrail, openForTampering, treeOf } from '../../support/tampering.ts';
import { found, honestKey, keptTrail, verifiedFile } from '../../support/verifying.ts';

/** Puts events behind a stream as its rows want it, with the tree that fits and this note. */
function add(
  trail: OpenedTrail,
  stream: number,
  events: readonly HubEvent[],
  note: string | null = null,
): void {
  for (const { sequenceNumber, enqueuedMs, body } of events)
    trail.run(
      'INSERT INTO entry SELECT ?, coalesce(max(idx) + 1, 0), ?, ?, ?, ? FROM entry WHERE stream = ?',
      ...[stream, sequenceNumber, enqueuedMs, hashBody(body), body, stream],
    );
  const tree = treeOf(trail.database, stream);
  const last = events.at(-1)?.sequenceNumber ?? 0;
  trail.run(
    'UPDATE stream SET size = ?, last_seq = ?, range = ?, note = ? WHERE id = ?',
    tree.size,
    last,
    encodeRange(tree),
    note,
    stream,
  );
}

const noteOf = (trail: OpenedTrail, stream: number): string =>
  String(trail.database.prepare('SELECT note FROM stream WHERE id = ?').get(stream)?.['note']);
const sizeOf = (trail: OpenedTrail, stream: number): number =>
  Number(trail.database.prepare('SELECT size FROM stream WHERE id = ?').get(stream)?.['size']);
const addFact = (trail: OpenedTrail, fact: JournalFact, note: string | null = null): void =>
  add(trail, trail.journal, [journalEvent(fact, sizeOf(trail, trail.journal), synthesisAt)], note);

interface Row {
  readonly name: string;
  readonly forge: (trail: OpenedTrail) => void;
  readonly names: string;
}

const p0 = (trail: OpenedTrail): number => trail.id(streamOf(0));
const rows: readonly Row[] = [
  {
    name: 'a record that no hub ever held',
    forge: (trail) => add(trail, p0(trail), migrations(0, 1, 8)),
    names: 'head-unvouched p0:27',
  },
  {
    name: 'the same below the signed head from before',
    forge: (trail) => add(trail, p0(trail), migrations(0, 1, 8), noteOf(trail, p0(trail))),
    names: 'head-unvouched p0:27',
  },
  {
    name: 'the same, signed with a key that the journal is made to name',
    forge: (trail) => {
      const own = keyNamed('somebody.else/trail');
      addFact(trail, { kind: 'keys-changed', keys: [own.verifier.text] });
      add(trail, p0(trail), migrations(0, 1, 8));
      const sign = signWith(own);
      for (const [name, id] of [
        [streamOf(0), p0(trail)],
        [localStreams(trail.trail).journal, trail.journal],
      ] as const)
        trail.run('UPDATE stream SET note = ? WHERE id = ?', sign(name, treeOf(trail.database, id)), id);
    },
    names: 'head-unvouched p0:27',
  },
  {
    name: 'a hold that was released',
    forge: (trail) => addFact(trail, { kind: 'released', hold: 'case 7' }),
    names: 'head-unvouched journal:7',
  },
  {
    name: 'bodies that went, with a word of their pruning that fits',
    forge: (trail) => {
      trail.run('UPDATE entry SET body = NULL WHERE stream = ? AND idx < 6', p0(trail));
      const tree = treeOf(trail.database, p0(trail));
      const root = Buffer.from(rootOf(tree)).toString('base64');
      addFact(trail, { kind: 'pruned', stream: streamOf(0), from: 0, to: 5, size: tree.size, root });
    },
    names: 'head-unvouched journal:7',
  },
  {
    name: 'a seal',
    forge: (trail) => {
      const body = trail.body(trail.seal, 4);
      add(trail, trail.seal, [{ sequenceNumber: 5, enqueuedMs: synthesisAt + 150_000, body }]);
    },
    names: 'head-unvouched seal:6',
  },
  {
    name: 'a trail with another id, whose journal calls this one an older copy',
    forge: (trail) => {
      trail.run("INSERT INTO trail (id) VALUES ('another')");
      trail.run(
        "INSERT INTO stream (name, size, last_seq, range) VALUES ('trail/another/journal', 0, -1, x'')",
      );
      const root = Buffer.alloc(32).toString('base64');
      const fact: JournalFact = {
        kind: 'restored',
        anchor: 'x',
        earlier: trail.trail,
        anchoredSize: 5,
        anchoredRoot: root,
      };
      add(trail, trail.id('trail/another/journal'), [journalEvent(fact, 0, synthesisAt)]);
    },
    names: 'head-unvouched journal:1',
  },
];

/** Goes on with a trail as a consumer that is started again. */
async function goOn(path: string, keys: readonly SignerKey[], now = synthesisAt + 200_000): Promise<Keeper> {
  const clock = new TrailClock();
  clock.at = now;
  await using store = openSqliteTrail(path, { sign: signWith(...keys), now: clock.now });
  const keeper = keeperOf(store, clock, keys[0] ?? honestKey);
  await keeper.continue();
  await keeper.journal({ kind: 'consumer-started', instance: 'one', version: '1.0.0' });
  await keeper.append(0, migrations(0, 2, (now - synthesisAt) / 10_000));
  await keeper.append(1, migrations(1, 2, (now - synthesisAt) / 10_000));
  await keeper.seal();
  await keeper.seal();
  await keeper.anchor();
  return keeper;
}

const asked = ({ clock, anchored }: Keeper) => ({ now: clock.at + 10_000, anchored: anchored.join('') });
const unvouchedIn = (names: readonly string[]): string[] =>
  names.filter((name) => name.startsWith('head-unvouched'));

describe('a consumer that goes on from it signs with it that nobody vouched for it', () => {
  test.each(rows)('$name', async ({ forge, names }) => {
    using kept = await keptTrail();
    {
      using trail = openForTampering(kept.path);
      forge(trail);
    }
    const report = await verifiedFile(kept.path, asked(await goOn(kept.path, [honestKey])));
    expect(report.exitCode).toBeGreaterThanOrEqual(10);
    expect(found(report)).toContain(names);
  });

  test('while it runs, too, and the verifier for auditors says so', async () => {
    let anchors = '';
    using folder = await exportedFolder(fillHonestly, async (path) => {
      {
        using trail = openForTampering(path);
        addFact(trail, { kind: 'released', hold: 'case 7' }, noteOf(trail, trail.journal));
      }
      anchors = (await goOn(path, [honestKey])).anchored.join('');
    });
    folder.write('anchors.kept', anchors);
    const script = join(projectRoot, 'docs/verify-trail.mjs');
    const run = await runNode([
      script,
      folder.path,
      '--key',
      folder.key,
      '--anchors',
      join(folder.path, 'anchors.kept'),
    ]);
    expect(run.exitCode).toBe(11);
    expect(run.stdout).toContain(`INCOMPLETE ${folder.journal}: none of the keys signed its head of size 7`);
  });
});

test('a note that was taken away is not given again at the next start', async () => {
  using kept = await keptTrail();
  {
    using database = new DatabaseSync(kept.path);
    database.exec('UPDATE stream SET note = NULL');
  }
  const report = await verifiedFile(kept.path, asked(await goOn(kept.path, [honestKey])));
  expect(unvouchedIn(found(report))).toEqual(
    [
      'head-unvouched p0:24',
      'head-unvouched p1:24',
      'head-unvouched journal:6',
      'head-unvouched seal:5',
    ].toSorted(),
  );
});

test('another key in one step is no fault for who has both, and one for who has the new one alone', async () => {
  using kept = await keptTrail();
  const next = keyNamed('fleet.example/next');
  const keeper = await goOn(kept.path, [next]);
  const both = await verifiedFile(kept.path, { ...asked(keeper), keys: [honestKey.verifier, next.verifier] });
  expect(unvouchedIn(found(both))).toEqual([]);
  const one = await verifiedFile(kept.path, { ...asked(keeper), keys: [next.verifier] });
  expect(unvouchedIn(found(one))).not.toEqual([]);
});

test('a key beside another one, and then instead of it, leaves nothing to be said', async () => {
  using kept = await keptTrail();
  const next = keyNamed('fleet.example/next');
  await goOn(kept.path, [next, honestKey]);
  const report = await verifiedFile(kept.path, {
    ...asked(await goOn(kept.path, [next], synthesisAt + 400_000)),
    keys: [next.verifier],
  });
  expect(unvouchedIn(found(report))).toEqual([]);
});
