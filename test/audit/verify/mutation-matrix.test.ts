// Whatever somebody changes in a trail is found and named: each way of changing it, without and with an anchor.
import { afterAll, describe, expect, test } from 'vitest';
import { openSqliteTrail } from '../../../src/audit/sqlite.ts';
import type { JournalFact } from '../../../src/core/journal.ts';
import { keyNamed, signWith, streamOf } from '../../support/honest-trail.ts';
import { factBytes, type OpenedTrail, openForTampering } from '../../support/tampering.ts';
import { found, honestKey, keptTrail, verifiedFile } from '../../support/verifying.ts';

const kept = await keptTrail();
afterAll(() => kept[Symbol.dispose]());
const { clock, anchored } = kept.keeper;
const now = clock.at + 10_000;
const attacker = keyNamed('somebody.else/trail');
const impostor = keyNamed(honestKey.verifier.name.toUpperCase());

interface Row {
  readonly name: string;
  readonly change: (trail: OpenedTrail) => void | Promise<void>;
  readonly exit: number;
  /** What must be among the findings, as `code place:index`. */
  readonly names: readonly string[];
  /** The same with an anchor; as without unless given. */
  readonly anchored?: { readonly exit: number; readonly names: readonly string[] };
  /** Has the projections made anew afterwards, as a thorough attacker would. */
  readonly rebuilds?: boolean;
}

const p0 = (trail: OpenedTrail): number => trail.id(streamOf(0));
const other = Buffer.from('{"specversion":"1.0","id":"x","source":"y","type":"z"}', 'utf8');
const prunedFact: JournalFact = {
  ...{
    kind: 'pruned',
    stream: streamOf(0),
    from: 0,
    to: 5,
    size: 24,
    root: Buffer.alloc(32).toString('base64'),
  },
};

/** Writes the whole story anew around a change, and signs it with a key. */
const rewriteAll = (key: typeof honestKey | null) => (trail: OpenedTrail) => {
  trail.rewrite(p0(trail), 3, other);
  const sign = key === null ? null : signWith(key);
  trail.remake(sign);
  trail.forgeSeals();
  trail.remake(sign);
};

const cut = (trail: OpenedTrail): void => {
  for (const stream of [p0(trail), trail.id(streamOf(1))])
    trail.run('DELETE FROM entry WHERE stream = ? AND idx >= 18', stream);
};

const rows: readonly Row[] = [
  {
    name: 'a flipped bit in a body',
    change: (trail) => {
      const body = trail.body(p0(trail), 3);
      body[10] = (body[10] ?? 0) ^ 1;
      trail.run('UPDATE entry SET body = ? WHERE stream = ? AND idx = 3', body, p0(trail));
    },
    ...{ exit: 10, names: ['body-changed p0:3'] },
  },
  {
    name: 'a flipped bit in the last body',
    change: (trail) => trail.run('UPDATE entry SET body = ? WHERE stream = ? AND idx = 23', other, p0(trail)),
    ...{ exit: 10, names: ['body-changed p0:23'] },
  },
  {
    name: 'another body with the hash that fits it',
    change: (trail) => trail.rewrite(p0(trail), 3, other),
    ...{ exit: 10, names: ['root-differs p0:0', 'seal-root-differs p0:0', 'head-differs p0:0'] },
  },
  {
    name: 'another body in a later batch',
    change: (trail) => trail.rewrite(p0(trail), 20, other),
    ...{ exit: 10, names: ['root-differs p0:18', 'seal-root-differs p0:18', 'head-differs p0:18'] },
  },
  {
    name: 'another enqueued time',
    change: (trail) =>
      trail.run('UPDATE entry SET enqueued_ms = enqueued_ms + 1 WHERE stream = ? AND idx = 7', p0(trail)),
    ...{ exit: 10, names: ['root-differs p0:6'] },
  },
  {
    name: 'two rows that changed places',
    change: (trail) => {
      const [one, two] = [trail.body(p0(trail), 8), trail.body(p0(trail), 9)];
      trail.rewrite(p0(trail), 8, two);
      trail.rewrite(p0(trail), 9, one);
    },
    ...{ exit: 10, names: ['root-differs p0:6'] },
  },
  {
    name: 'a row deleted',
    change: (trail) => trail.run('DELETE FROM entry WHERE stream = ? AND idx = 7', p0(trail)),
    ...{ exit: 10, names: ['entry-missing p0:7'] },
  },
  {
    name: 'a row deleted and the rest numbered anew',
    change: (trail) => {
      trail.run('DELETE FROM entry WHERE stream = ? AND idx = 7', p0(trail));
      trail.run('UPDATE entry SET idx = idx - 1 - 1000 WHERE stream = ? AND idx > 7', p0(trail));
      trail.run('UPDATE entry SET idx = idx + 1000 WHERE stream = ? AND idx < 0', p0(trail));
    },
    ...{ exit: 10, names: ['root-differs p0:6', 'entries-missing p0:23'] },
  },
  {
    name: 'a row deleted, numbered anew, and the sequence numbers too',
    change: (trail) => {
      trail.run('DELETE FROM entry WHERE stream = ? AND idx = 7', p0(trail));
      trail.run(
        'UPDATE entry SET idx = idx - 1001, seq = seq - 1001 WHERE stream = ? AND idx > 7',
        p0(trail),
      );
      trail.run(
        'UPDATE entry SET idx = idx + 1000, seq = seq + 1000 WHERE stream = ? AND idx < 0',
        p0(trail),
      );
      trail.run('UPDATE stream SET size = 23, last_seq = 22 WHERE id = ?', p0(trail));
    },
    ...{ exit: 10, names: ['root-differs p0:6', 'entries-missing p0:23', 'seal-beyond p0:23'] },
  },
  {
    name: 'the end of the rows cut off, with the checkpoints kept',
    change: cut,
    ...{ exit: 10, names: ['entries-missing p0:18', 'entries-missing p1:18', 'seal-beyond p0:18'] },
  },
  {
    name: 'an older copy put back',
    change: (trail) => {
      cut(trail);
      trail.run('DELETE FROM checkpoint WHERE stream IN (SELECT id FROM stream) AND size > 18');
      const seals = trail.seal;
      trail.run('DELETE FROM entry WHERE stream = ? AND idx >= 4', seals);
      trail.run('DELETE FROM entry WHERE stream = ? AND idx >= 5', trail.journal);
      trail.remake(signWith(honestKey));
    },
    rebuilds: true,
    ...{ exit: 11, names: ['no-anchor'] },
    anchored: { exit: 10, names: ['trail-cut seal:4'] },
  },
  {
    name: 'everything written anew and signed with the stolen key',
    change: rewriteAll(honestKey),
    rebuilds: true,
    ...{ exit: 11, names: ['no-anchor'] },
    anchored: { exit: 10, names: ['trail-rewritten seal:2'] },
  },
  {
    name: 'everything written anew and signed with another key',
    change: rewriteAll(attacker),
    rebuilds: true,
    ...{ exit: 10, names: ['signature-unknown p0:24', 'signature-unknown seal:5'] },
    anchored: { exit: 10, names: ['signature-unknown p0:24', 'trail-rewritten seal:2'] },
  },
  {
    name: 'everything written anew and signed with a key of nearly the same name',
    change: rewriteAll(impostor),
    rebuilds: true,
    ...{ exit: 10, names: ['signature-unknown p0:24'] },
  },
  {
    name: 'everything written anew and signed by nobody',
    change: rewriteAll(null),
    rebuilds: true,
    ...{ exit: 10, names: ['signature-missing'] },
    anchored: { exit: 10, names: ['signature-missing', 'trail-rewritten seal:2'] },
  },
  {
    name: 'all signatures taken away',
    change: (trail) => {
      trail.run('UPDATE stream SET note = NULL');
      trail.run('DELETE FROM checkpoint');
    },
    ...{ exit: 10, names: ['signature-missing'] },
  },
  {
    name: 'the signature lines cut off each note',
    change: (trail) => {
      trail.run('UPDATE stream SET note = substr(note, 1, instr(note, char(10) || char(10)))');
      trail.run('UPDATE checkpoint SET note = substr(note, 1, instr(note, char(10) || char(10)))');
    },
    ...{ exit: 10, names: ['signature-missing p0:6', 'signature-missing seal:5'] },
  },
  {
    name: 'all pinned checkpoints deleted',
    change: (trail) => trail.run('DELETE FROM checkpoint'),
    ...{ exit: 11, names: ['note-missing p0:5', 'no-anchor'] },
    anchored: { exit: 11, names: ['note-missing p0:5'] },
  },
  {
    name: 'the signature of one head changed',
    change: (trail) => {
      const row = trail.database.prepare('SELECT note FROM stream WHERE id = ?').get(p0(trail));
      const note = String(row?.['note']);
      const at = note.length - 20;
      const letter = note[at] === 'A' ? 'B' : 'A';
      trail.run(
        'UPDATE stream SET note = ? WHERE id = ?',
        note.slice(0, at) + letter + note.slice(at + 1),
        p0(trail),
      );
    },
    ...{ exit: 10, names: ['signature-wrong p0:24'] },
  },
  {
    name: 'the note of another stream in the place of this one',
    change: (trail) =>
      trail.run(
        'UPDATE stream SET note = (SELECT note FROM stream WHERE id = ?) WHERE id = ?',
        trail.id(streamOf(1)),
        p0(trail),
      ),
    ...{ exit: 10, names: ['note-of-another p0:24'] },
  },
  {
    name: 'an older note of the same stream in the place of the newest',
    change: (trail) =>
      trail.run(
        'UPDATE stream SET note = (SELECT note FROM checkpoint WHERE stream = ? AND size = 6) WHERE id = ?',
        p0(trail),
        p0(trail),
      ),
    ...{ exit: 10, names: ['note-malformed p0:24'] },
  },
  {
    name: 'a pinned note that is no note',
    change: (trail) =>
      trail.run("UPDATE checkpoint SET note = 'nothing' WHERE stream = ? AND size = 6", p0(trail)),
    ...{ exit: 10, names: ['note-malformed p0:6'] },
  },
  {
    name: 'a row forged behind the last head',
    change: (trail) =>
      trail.run(
        'INSERT INTO entry SELECT stream, 24, 24, enqueued_ms, body_sha256, body FROM entry WHERE stream = ? AND idx = 23',
        p0(trail),
      ),
    ...{ exit: 10, names: ['entries-beyond-head p0:24'] },
  },
  {
    name: 'a row forged behind the last head, which grows along without a signature',
    change: (trail) => {
      trail.run(
        'INSERT INTO entry SELECT stream, 24, 24, enqueued_ms, body_sha256, body FROM entry WHERE stream = ? AND idx = 23',
        p0(trail),
      );
      const notes = trail.database.prepare('SELECT id, note FROM stream').all();
      trail.remake(signWith(honestKey));
      for (const { id, note } of notes)
        trail.run('UPDATE stream SET note = ? WHERE id = ?', note as string, id as number);
      trail.run('UPDATE stream SET note = NULL WHERE id = ?', p0(trail));
    },
    rebuilds: true,
    ...{ exit: 11, names: ['head-unsigned p0:24'] },
  },
  {
    name: 'a sequence number changed',
    change: (trail) => trail.run('UPDATE entry SET seq = 100 WHERE stream = ? AND idx = 23', p0(trail)),
    ...{ exit: 10, names: ['root-differs p0:18', 'gap-unexplained p0:23'] },
  },
  {
    name: 'sequence numbers that fall',
    change: (trail) => {
      trail.run('UPDATE entry SET seq = -5 WHERE stream = ? AND idx = 9', p0(trail));
    },
    ...{ exit: 10, names: ['sequence-falls p0:9', 'root-differs p0:6'] },
  },
  {
    name: 'the tree in the stream’s row changed',
    change: (trail) => trail.run('UPDATE stream SET range = zeroblob(length(range)) WHERE id = ?', p0(trail)),
    ...{ exit: 10, names: ['head-differs p0:24'] },
  },
  {
    name: 'the tree in the stream’s row cut short',
    change: (trail) => trail.run("UPDATE stream SET range = x'00' WHERE id = ?", p0(trail)),
    ...{ exit: 10, names: ['head-differs p0:24'] },
  },
  {
    name: 'a whole partition deleted',
    change: (trail) => {
      const id = trail.id(streamOf(1));
      trail.run('DELETE FROM entry WHERE stream = ?', id);
      trail.run('DELETE FROM checkpoint WHERE stream = ?', id);
      trail.run('DELETE FROM stream WHERE id = ?', id);
    },
    ...{ exit: 10, names: ['seal-beyond p1'] },
  },
  {
    name: 'a partition under another name',
    change: (trail) =>
      trail.run('UPDATE stream SET name = ? WHERE id = ?', streamOf(7), trail.id(streamOf(1))),
    ...{ exit: 10, names: ['note-of-another p7:6', 'seal-beyond p1'] },
  },
  {
    name: 'a fact of the journal removed',
    change: (trail) => trail.run('DELETE FROM entry WHERE stream = ? AND idx = 1', trail.journal),
    ...{ exit: 10, names: ['entry-missing journal:1'] },
  },
  {
    name: 'a fact of the journal changed',
    change: (trail) =>
      trail.rewrite(trail.journal, 0, factBytes({ kind: 'consumer-stopped', instance: 'one' })),
    ...{ exit: 10, names: ['root-differs journal:0'] },
  },
  {
    name: 'a fact added to the journal',
    change: (trail) => {
      const bytes = factBytes(prunedFact);
      trail.run(
        'INSERT INTO entry SELECT stream, idx + 1, seq + 1, enqueued_ms, body_sha256, ? FROM entry WHERE stream = ? ORDER BY idx DESC LIMIT 1',
        bytes,
        trail.journal,
      );
    },
    ...{ exit: 10, names: ['body-changed journal:6', 'entries-beyond-head journal:6'] },
  },
  {
    name: 'a seal removed',
    change: (trail) => trail.run('DELETE FROM entry WHERE stream = ? AND idx = 2', trail.seal),
    ...{ exit: 10, names: ['entry-missing seal:2'] },
  },
  {
    name: 'all seals removed, and the stream of them',
    change: (trail) => {
      trail.run('DELETE FROM entry WHERE stream = ?', trail.seal);
      trail.run('DELETE FROM stream WHERE id = ?', trail.seal);
    },
    ...{ exit: 11, names: ['no-anchor'] },
    anchored: { exit: 10, names: ['trail-cut seal:0'] },
  },
  {
    name: 'where reading goes on',
    change: (trail) => trail.run('UPDATE stream SET last_seq = last_seq + 5 WHERE id = ?', p0(trail)),
    ...{ exit: 10, names: ['head-differs p0:23'] },
  },
  {
    name: 'a seal changed',
    change: (trail) => {
      const body = JSON.parse(trail.body(trail.seal, 2).toString('utf8'));
      body.heads = body.heads.slice(1);
      trail.rewrite(trail.seal, 2, Buffer.from(JSON.stringify(body)));
    },
    ...{ exit: 10, names: ['root-differs seal:0'] },
    anchored: { exit: 10, names: ['trail-rewritten seal:2', 'head-differs seal:0'] },
  },
  {
    name: 'a seal that is none',
    change: (trail) => trail.rewrite(trail.seal, 2, Buffer.from('{}')),
    ...{ exit: 10, names: ['seal-unreadable seal:2'] },
  },
  {
    name: 'a seal that names fewer entries than the one before it',
    change: (trail) => {
      const body = JSON.parse(trail.body(trail.seal, 4).toString('utf8'));
      for (const head of body.heads) head.size = 1;
      trail.rewrite(trail.seal, 4, Buffer.from(JSON.stringify(body)));
      trail.remake(signWith(honestKey));
    },
    ...{ exit: 10, names: ['seal-falls p0:1'] },
  },
  {
    name: 'another id for the trail',
    change: (trail) => trail.run("INSERT INTO trail (id) VALUES ('another')"),
    ...{ exit: 10, names: ['trail-changed journal', 'trail-changed seal'] },
  },
  {
    name: 'a body taken away with no word of a pruning',
    change: (trail) => trail.run('UPDATE entry SET body = NULL WHERE stream = ? AND idx < 6', p0(trail)),
    ...{ exit: 10, names: ['body-missing p0:0'] },
  },
  {
    name: 'a forged word of a pruning, signed with the stolen key',
    change: (trail) => {
      trail.run('UPDATE entry SET body = NULL WHERE stream = ? AND idx < 6', p0(trail));
      trail.rewrite(trail.journal, trail.fact('anchored'), factBytes(prunedFact));
      trail.remake(signWith(honestKey));
      trail.forgeSeals();
      trail.remake(signWith(honestKey));
    },
    ...{ exit: 10, names: ['prune-forged p0:0'] },
  },
  {
    name: 'two partitions that changed names',
    change: (trail) => {
      const [one, two] = [p0(trail), trail.id(streamOf(1))];
      trail.run("UPDATE stream SET name = 'between' WHERE id = ?", one);
      trail.run('UPDATE stream SET name = ? WHERE id = ?', streamOf(0), two);
      trail.run('UPDATE stream SET name = ? WHERE id = ?', streamOf(1), one);
    },
    ...{ exit: 10, names: ['note-of-another p0:6', 'note-of-another p1:6', 'seal-root-differs p0:0'] },
  },
  {
    name: 'a partition twice, under another name',
    change: (trail) => {
      const twin = streamOf(9);
      trail.run(
        'INSERT INTO stream (name, size, last_seq, range) SELECT ?, size, last_seq, range FROM stream WHERE id = ?',
        ...[twin, p0(trail)],
      );
      trail.run(
        'INSERT INTO entry SELECT ?, idx, seq, enqueued_ms, body_sha256, body FROM entry WHERE stream = ?',
        ...[trail.id(twin), p0(trail)],
      );
    },
    ...{ exit: 10, names: ['head-unsigned p9:0', 'projection-differs'] },
  },
  ...projectionRows(),
];

/** Each projection, with one row changed or gone. */
function projectionRows(): Row[] {
  const changes: Readonly<Record<string, string>> = {
    observation: 'UPDATE observation SET at_ms = at_ms + 1 WHERE rowid = 1',
    'observation ': 'DELETE FROM observation WHERE rowid = 1',
    event: "UPDATE event SET status = 'canceled'",
    'event ': "UPDATE event SET state = replace(state, 'Freeze', 'Reboot')",
    event_vm: "UPDATE event_vm SET vm_name = 'another'",
    event_observer: 'UPDATE event_observer SET phases = 1',
    agent: "UPDATE agent SET vm_name = 'another' WHERE rowid = 1",
    conflict: "INSERT INTO conflict VALUES (x'00', 's', 'i', 2)",
    parked: "INSERT INTO parked VALUES (1, 0, 'not-json')",
  };
  return Object.entries(changes).map(([table, sql]) => ({
    name: `a change of the projection ${table.trim()}: ${sql.split(' ')[0]}`,
    change: (trail) => trail.run(sql),
    ...{ exit: 10, names: [`projection-differs`] },
  }));
}

async function tampered({ name, change, rebuilds }: Row): Promise<string> {
  const path = kept.copy(name);
  {
    using trail = openForTampering(path);
    await change(trail);
  }
  if (rebuilds === true) {
    await using store = openSqliteTrail(path);
    await store.rebuild();
  }
  return path;
}

test('a trail that nobody touched is verified with its anchor, and has nothing to say but that without one', async () => {
  const whole = await verifiedFile(kept.path, { now, anchored: anchored.join('') });
  expect({ exit: whole.exitCode, names: found(whole) }).toEqual({ exit: 0, names: [] });
  expect(whole.checks.map(({ status }) => status)).toEqual(Array(8).fill('proved'));
  const bare = await verifiedFile(kept.path, { now });
  expect({ exit: bare.exitCode, names: found(bare) }).toEqual({ exit: 11, names: ['no-anchor'] });
});

describe('without an anchor, and with one', () => {
  test.each(rows)('finds and names $name', async (row) => {
    const path = await tampered(row);
    const bare = await verifiedFile(path, { now });
    expect({ exit: bare.exitCode, names: found(bare) }).toEqual({
      exit: row.exit,
      names: expect.arrayContaining([...row.names]),
    });
    const others = row.names.filter((each) => each !== 'no-anchor');
    const { exit, names } = row.anchored ?? { exit: row.exit, names: others };
    // Comparing the projections once is enough.
    const projections = row.names.includes('projection-differs');
    const report = await verifiedFile(path, { now, anchored: anchored.join(''), projections });
    expect({ exit: report.exitCode, names: found(report) }).toEqual({
      exit,
      names: expect.arrayContaining([...names]),
    });
    expect(found(report)).not.toContain('no-anchor');
  });
});
