// Whether the verifier for auditors, which shares nothing with the program, finds whatever was done to a real export.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkpointText } from '../../src/core/checkpoint.ts';
import { signNote } from '../../src/core/signed-note.ts';
import { type ExportedFolder, exportedFolder } from '../support/exported-folder.ts';
import {
  fillHonestly,
  type Keeper,
  keyNamed,
  migrations,
  signWith,
  streamOf,
} from '../support/honest-trail.ts';
import { runNode } from '../support/process.ts';
import { projectRoot } from '../support/source-files.ts';
import { synthesisAt } from '../support/synthetic.ts';
import { openForTampering } from '../support/tampering.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { honestKey } from '../support/verifying.ts';

const script = join(projectRoot, 'docs/verify-trail.mjs');
const text = readFileSync(script, 'utf8');

let whole: ExportedFolder;
beforeAll(async () => {
  whole = await exportedFolder();
});
afterAll(() => whole[Symbol.dispose]());

interface Asked {
  readonly key?: string;
  /** Null when none is given. */
  readonly anchors?: string | null;
}

async function verify(folder: ExportedFolder, { key = folder.key, anchors = folder.anchors }: Asked = {}) {
  const beside = join(folder.path, 'anchors.kept');
  if (anchors !== null) folder.write('anchors.kept', anchors);
  const words = anchors === null ? [] : ['--anchors', beside];
  const run = await runNode([script, folder.path, '--key', key, ...words]);
  return { exitCode: run.exitCode, said: run.stdout + run.stderr };
}

const [p0, p1] = [streamOf(0), streamOf(1)];
const entriesOf = (stream: string): string => `${stream}/2026/11/10/entries-001.jsonl`;
const notesOf = (stream: string): string => `${stream}/checkpoints.notes`;

/** Changes a file line by line. */
function edit(folder: ExportedFolder, name: string, change: (lines: string[]) => readonly string[]): void {
  folder.write(
    name,
    change(folder.read(name).split('\n').slice(0, -1))
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** Changes what one entry says. */
function say(
  folder: ExportedFolder,
  place: number,
  change: (entry: Record<string, unknown>) => object,
): void {
  edit(folder, entriesOf(p0), (lines) =>
    lines.with(place, JSON.stringify(change(JSON.parse(lines[place] ?? '')))),
  );
}

/** The first notes of a stream, up to a size. */
function cutNotes(folder: ExportedFolder, stream: string, size: number): void {
  const notes = folder
    .read(notesOf(stream))
    .split(/(?<=— .*\n)\n/)
    .filter((note) => note !== '');
  const kept = notes.filter((note) => Number(note.split('\n')[1]) <= size);
  folder.write(notesOf(stream), kept.map((note) => `${note}\n`).join(''));
}

function cut(folder: ExportedFolder, stream: string, size: number): void {
  edit(folder, entriesOf(stream), (lines) => lines.slice(0, size));
  cutNotes(folder, stream, size);
}

const sign = (folder: ExportedFolder, stream: string, change: (note: string) => string): void =>
  folder.write(notesOf(stream), change(folder.read(notesOf(stream))));

/** Everything as it stood with the third seal: both partitions had 12 entries, and the journal what it had then. */
function cutAll(folder: ExportedFolder): void {
  cut(folder, p0, 12);
  cut(folder, p1, 12);
  cut(folder, folder.seal, 3);
  const heads = JSON.parse(JSON.parse(folder.read(entriesOf(folder.seal)).split('\n')[2] ?? '').body).heads;
  const journal = heads.find(({ stream }: { stream: string }) => stream === folder.journal)?.size ?? 4;
  cut(folder, folder.journal, journal);
}

interface Tampering {
  readonly name: string;
  readonly change: (folder: ExportedFolder) => void;
  readonly asked?: Asked;
  readonly exitCode: 10 | 11;
  /** What must be said. */
  readonly says: string;
}

const tamperings: readonly Tampering[] = [
  {
    name: 'another letter in a body',
    change: (folder) =>
      say(folder, 3, (entry) => ({ ...entry, body: String(entry['body']).replace('web', 'wab') })),
    ...{ exitCode: 10, says: 'the body of entry 3 was changed' },
  },
  {
    name: 'another body with the hash that fits it',
    change: (folder) =>
      say(folder, 3, (entry) => ({
        ...entry,
        bodySha256: '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
        body: '',
      })),
    ...{ exitCode: 10, says: `${p0}: its first 6 entries are not those that were signed` },
  },
  {
    name: 'another time',
    change: (folder) =>
      say(folder, 3, (entry) => ({ ...entry, enqueuedMs: Number(entry['enqueuedMs']) + 1 })),
    ...{ exitCode: 10, says: 'its first 6 entries are not those that were signed' },
  },
  {
    name: 'another sequence number',
    change: (folder) => say(folder, 23, (entry) => ({ ...entry, sequenceNumber: 99 })),
    ...{ exitCode: 10, says: 'its first 24 entries are not those that were signed' },
  },
  {
    name: 'an entry taken out',
    change: (folder) => edit(folder, entriesOf(p0), (lines) => lines.toSpliced(7, 1)),
    ...{ exitCode: 10, says: 'entry 8 stands where entry 7 belongs' },
  },
  {
    name: 'an entry taken out, and the rest numbered anew',
    change: (folder) => {
      edit(folder, entriesOf(p0), (lines) => lines.toSpliced(7, 1));
      for (let place = 7; place < 23; place += 1)
        say(folder, place, (entry) => ({ ...entry, index: place, sequenceNumber: place }));
    },
    ...{ exitCode: 10, says: 'its first 12 entries are not those that were signed' },
  },
  {
    name: 'two entries that changed places',
    change: (folder) =>
      edit(folder, entriesOf(p0), (lines) => [
        ...lines.slice(0, 4),
        lines[5] ?? '',
        lines[4] ?? '',
        ...lines.slice(6),
      ]),
    ...{ exitCode: 10, says: 'has sequence number 4, behind 5' },
  },
  {
    name: 'an entry twice',
    change: (folder) => edit(folder, entriesOf(p0), (lines) => lines.toSpliced(4, 0, lines[4] ?? '')),
    ...{ exitCode: 10, says: 'entry 4 stands where entry 5 belongs' },
  },
  {
    name: 'a body taken away without a word',
    change: (folder) => say(folder, 3, ({ body: _, ...entry }) => entry),
    ...{ exitCode: 10, says: 'entry 3 has lost its body' },
  },
  {
    name: 'a name twice in a line, of which people read the first',
    change: (folder) =>
      edit(folder, entriesOf(p0), (lines) =>
        lines.with(3, (lines[3] ?? '').replace('"body":', '"body":"nothing happened","body":')),
      ),
    ...{ exitCode: 10, says: 'this line is no entry' },
  },
  {
    name: 'a remark beside what was signed',
    change: (folder) => say(folder, 3, (entry) => ({ ...entry, remark: 'approved' })),
    ...{ exitCode: 10, says: 'this line is no entry' },
  },
  {
    name: 'a number as text, which hides what is missing',
    change: (folder) => say(folder, 3, (entry) => ({ ...entry, sequenceNumber: '3' })),
    ...{ exitCode: 10, says: 'this line is no entry' },
  },
  {
    name: 'a line of nonsense',
    change: (folder) => edit(folder, entriesOf(p0), (lines) => lines.with(3, 'null')),
    ...{ exitCode: 10, says: 'null: this line is no entry' },
  },
  {
    name: 'the last entries cut off',
    change: (folder) => edit(folder, entriesOf(p0), (lines) => lines.slice(0, 20)),
    ...{ exitCode: 10, says: 'a head speaks of 24 entries, and only 20 are here' },
  },
  {
    name: 'the end cut off within a line',
    change: (folder) => folder.write(entriesOf(p0), folder.read(entriesOf(p0)).slice(0, -9)),
    ...{ exitCode: 10, says: 'it ends within a line' },
  },
  {
    name: 'the last entries cut off with their heads',
    change: (folder) => cut(folder, p0, 18),
    ...{ exitCode: 10, says: `${p0}: its first 24 entries are not those of seal 4` },
  },
  {
    name: 'a whole partition taken away',
    change: (folder) => rmSync(join(folder.path, p1), { recursive: true }),
    ...{ exitCode: 10, says: `${p1}: its first 6 entries are not those of seal 1` },
  },
  {
    name: 'the last seal cut off',
    change: (folder) => cut(folder, folder.seal, 4),
    ...{ exitCode: 10, says: '5 seals were anchored' },
  },
  {
    name: 'all streams cut back to one seal',
    change: cutAll,
    ...{ exitCode: 10, says: '5 seals were anchored' },
  },
  {
    name: 'the same without anchors: what nobody can find must be said',
    change: cutAll,
    asked: { anchors: null },
    ...{ exitCode: 11, says: 'without --anchors nobody can say whether the end was cut off' },
  },
  {
    name: 'all seals taken away',
    change: (folder) => rmSync(join(folder.path, folder.seal), { recursive: true }),
    ...{ exitCode: 10, says: `${'/seal'}: it was anchored, and is not here` },
  },
  {
    name: 'the journal taken away',
    change: (folder) => rmSync(join(folder.path, folder.journal), { recursive: true }),
    ...{ exitCode: 10, says: '/journal: its first 2 entries are not those of seal 0' },
  },
  {
    name: 'another seal',
    change: (folder) =>
      edit(folder, entriesOf(folder.seal), (lines) =>
        lines.with(2, (lines[2] ?? '').replace('size\\":12', 'size\\":11')),
      ),
    ...{ exitCode: 10, says: 'the body of entry 2 was changed' },
  },
  {
    name: 'a signature of which one character is another',
    change: (folder) =>
      sign(folder, p0, (notes) =>
        notes.replace(/(— .{60})(.)/, (_, before, each) => `${before}${each === 'A' ? 'B' : 'A'}`),
      ),
    ...{ exitCode: 10, says: 'its head of size 6 has a wrong signature' },
  },
  {
    name: 'another size in a signed head',
    change: (folder) => sign(folder, p0, (notes) => notes.replace('\n24\n', '\n25\n')),
    ...{ exitCode: 10, says: 'its head of size 25 has a wrong signature' },
  },
  {
    name: 'the heads of another partition',
    change: (folder) => folder.write(notesOf(p0), folder.read(notesOf(p1))),
    ...{ exitCode: 10, says: 'a head of 6 entries is out of place' },
  },
  {
    name: 'heads that are no numbers',
    change: (folder) => sign(folder, p0, () => signNote(`${p0}\nmany\nAAAA\n`, [honestKey])),
    ...{ exitCode: 10, says: 'a head speaks of NaN entries' },
  },
  {
    name: 'the signatures taken away',
    change: (folder) => sign(folder, p0, (notes) => notes.replace(/— .*\n/g, '')),
    ...{ exitCode: 11, says: `${p0}: none of the keys signed its last 24 entries` },
  },
  {
    name: 'an entry behind the last head',
    change: (folder) =>
      edit(folder, entriesOf(p0), (lines) => [
        ...lines,
        JSON.stringify({ ...JSON.parse(lines[23] ?? ''), index: 24, sequenceNumber: 24 }),
      ]),
    ...{ exitCode: 11, says: 'none of the keys signed its last 1 entries' },
  },
  {
    name: 'the key of somebody else',
    change: () => {},
    asked: { key: keyNamed('other').verifier.text },
    ...{ exitCode: 11, says: 'none of the keys signed its last 24 entries' },
  },
];

describe.concurrent('the verifier in the docs', () => {
  it('verifies an export that is whole, and says of each stream how far it is signed and anchored', async () => {
    using folder = whole.copy();
    const { exitCode, said } = await verify(folder);
    expect({ exitCode, said }).toEqual({
      exitCode: 0,
      said: expect.stringMatching(/\nVERIFIED: 4 streams, 1 keys, 2 anchors\n$/),
    });
    expect(said).toContain(`${p0}: 24 entries up to sequence number 23, 24 signed, 0 anchored\n`);
    expect(said).toContain(`${folder.seal}: 5 entries up to sequence number 4, 5 signed, 5 anchored\n`);
  });

  it.each(tamperings)('finds $name', async ({ change, asked, exitCode, says }) => {
    using folder = whole.copy();
    change(folder);
    const found = await verify(folder, asked);
    expect(found.said).toContain(says);
    expect(found.exitCode).toBe(exitCode);
  });

  it('finds by its anchors a trail that was written anew and signed with the stolen key', async () => {
    const rewrite = (path: string, key = honestKey) => {
      using trail = openForTampering(path);
      trail.rewrite(trail.id(p0), 3, Buffer.from('{}'));
      trail.remake(signWith(key));
      trail.forgeSeals();
      trail.remake(signWith(key));
    };
    using folder = await exportedFolder(fillHonestly, rewrite);
    // The anchors of this very trail, which were taken before it was written anew.
    const found = await verify(folder);
    expect(found.said).toContain('are not those that were anchored');
    expect(found.exitCode).toBe(10);
    expect((await verify(folder, { anchors: null })).exitCode).toBe(11);
  });

  it('takes no anchor that somebody else signed for one', async () => {
    using folder = whole.copy();
    const texts = folder.anchors.match(/^trail.*\n.*\n.*\n/gm) ?? [];
    const strange = texts.map((head) => `${signNote(head, [keyNamed('other')])}\n`).join('');
    expect(texts).toHaveLength(2);
    for (const anchors of [strange, '']) {
      const found = await verify(folder, { anchors });
      expect(found.said).toContain('without --anchors nobody can say whether the end was cut off');
      expect(found.exitCode).toBe(11);
    }
  });

  it('reads the files of a stream in their order, however many there are', async () => {
    using folder = whole.copy();
    const lines = folder.read(entriesOf(p0)).split(/(?<=\n)/);
    for (const part of [2, 1, 0]) {
      folder.write(
        entriesOf(p0).replace('001', `00${part + 1}`),
        lines.slice(part * 8, part * 8 + 8).join(''),
      );
    }
    const notes = folder.read(notesOf(p0)).split(/(?<=— .*\n\n)/);
    folder.write(notesOf(p0).replace('.notes', '-003.notes'), notes.slice(3).join(''));
    folder.write(notesOf(p0).replace('.notes', '-002.notes'), notes.slice(1, 3).join(''));
    folder.write(notesOf(p0), notes.slice(0, 1).join(''));
    expect(notes.length).toBeGreaterThan(3);
    const { exitCode, said } = await verify(folder);
    expect({ exitCode, said }).toEqual({ exitCode: 0, said: expect.stringContaining('VERIFIED') });
  });

  it('knows a trail that several keys signed by each of them', async () => {
    const [old, next] = [honestKey, keyNamed('next')];
    const change = (path: string) => {
      using trail = openForTampering(path);
      trail.remake(signWith(old, next));
    };
    using folder = await exportedFolder(fillHonestly, change);
    const anchors = folder.anchors;
    expect((await verify(folder, { anchors, key: old.verifier.text })).exitCode).toBe(0);
    // The anchors were signed before there was the other key.
    const found = await verify(folder, { anchors, key: next.verifier.text });
    expect(found.said).not.toContain('none of the keys');
    expect(found.exitCode).toBe(11);
  });

  it('finds an anchor of a trail that is not here', async () => {
    using folder = whole.copy();
    const strange = signNote(`trail/other/seal\n3\n${Buffer.alloc(32).toString('base64')}\n`, [honestKey]);
    const found = await verify(folder, { anchors: `${folder.anchors}${strange}` });
    expect(found).toEqual({
      exitCode: 10,
      said: expect.stringContaining('trail/other/seal: it was anchored, and is not here'),
    });
  });
});

/** A trail, and what is incomplete of it all the same. */
const honest: readonly {
  readonly name: string;
  readonly fill: (keeper: Keeper) => Promise<void>;
  readonly exitCode: 0 | 11;
  readonly says: string;
}[] = [
  {
    name: 'a gap that the journal explains',
    fill: async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      await keeper.append(0, migrations(0, 2, 4), [{ kind: 'gap', stream: p0, from: 6, to: 11 }]);
    },
    ...{ exitCode: 11, says: 'sequence numbers 6 to 11 are missing: the hub had lost them' },
  },
  {
    name: 'a gap that nothing explains',
    fill: async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      await keeper.append(0, migrations(0, 2, 4), [{ kind: 'gap', stream: p0, from: 6, to: 10 }]);
    },
    ...{ exitCode: 11, says: 'sequence numbers 6 to 11 are missing: nothing says why' },
  },
  {
    name: 'a partition that began later',
    fill: (keeper) => keeper.append(0, migrations(0, 2, 4)),
    ...{ exitCode: 0, says: `${p0}: 6 entries up to sequence number 17, 6 signed` },
  },
  {
    name: 'bodies that were pruned',
    fill: async (keeper) => {
      await keeper.append(0, migrations(0, 2));
      const pruned = await keeper.store.prune(synthesisAt + 86_400_000);
      expect(pruned).toMatchObject({ status: 'pruned', streams: [{ stream: p0, bodies: 6 }] });
    },
    ...{ exitCode: 0, says: `${p0}: 6 entries up to sequence number 5, 6 signed` },
  },
  {
    name: 'bodies of any bytes',
    fill: (keeper) => {
      const bodies = [
        '',
        '\u2028\u2029\r\n"\\',
        '\ufeffå',
        Buffer.from([0, 255, 254]),
        '\n'.repeat(9),
        '— x AAAA\n\n',
      ];
      const events = bodies.map((body, sequenceNumber) => ({
        ...{ sequenceNumber, enqueuedMs: synthesisAt + sequenceNumber },
        body: Buffer.from(body),
      }));
      return keeper.append(0, events);
    },
    ...{ exitCode: 0, says: `${p0}: 6 entries up to sequence number 5, 6 signed` },
  },
  {
    name: 'a night over which the day changes',
    fill: async (keeper) => {
      const at = (days: number) =>
        migrations(0, 2, days * 2).map((event) => ({
          ...event,
          enqueuedMs: event.enqueuedMs + days * 86_400_000,
        }));
      await keeper.append(0, at(0));
      await keeper.append(0, [...at(1), ...at(2)]);
    },
    ...{ exitCode: 0, says: `${p0}: 18 entries up to sequence number 17, 18 signed` },
  },
];

describe.concurrent('of an honest trail', () => {
  it.each(honest)('$name is told as what it is', async ({ fill, exitCode, says }) => {
    using folder = await exportedFolder(async (keeper) => {
      await fill(keeper);
      await keeper.seal();
      await keeper.anchor();
    });
    const found = await verify(folder);
    expect(found.said).toContain(says);
    expect(found.exitCode).toBe(exitCode);
  });
});

it('takes no more memory for a trail that is bigger than what it may use', async () => {
  using folder = await exportedFolder(async (keeper) => {
    for (const batch of [0, 1, 2, 3]) {
      const events = Array.from({ length: 60 }, (_, index) => ({
        sequenceNumber: batch * 60 + index,
        enqueuedMs: synthesisAt,
        // Letters of several bytes, of which a part is read and then the rest.
        body: Buffer.from(`å${index} `.repeat(30_000)),
      }));
      await keeper.append(0, events);
    }
    await keeper.seal();
    await keeper.anchor();
  });
  const kept = join(folder.path, 'anchors.kept');
  folder.write('anchors.kept', folder.anchors);
  const words = [script, folder.path, '--key', folder.key, '--anchors', kept];
  // 30 MB of bodies in 12 MB of heap.
  const run = await runNode(['--max-old-space-size=12', '--max-semi-space-size=1', ...words]);
  expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  expect(run.stdout).toContain(`${p0}: 240 entries`);
});

it('takes a copy that was put back for incomplete where the journal says so, and else for one that was cut', async () => {
  const later = async (keeper: Keeper, isSaid: boolean) => {
    await keeper.append(0, migrations(0, 2));
    await keeper.seal();
    const { trail: earlier } = (await keeper.store.trail()) as { trail: string };
    const root = Buffer.alloc(32, 7);
    keeper.anchored.push(
      `${signNote(checkpointText(`trail/${earlier}/seal`, { size: 9, root }), [honestKey])}\n`,
    );
    const anchoredRoot = root.toString('base64');
    const fact = { kind: 'restored', anchor: 'elsewhere', earlier, anchoredSize: 9, anchoredRoot } as const;
    if (isSaid) await keeper.store.renew(fact);
    await keeper.append(0, migrations(0, 2, 2));
    await keeper.seal();
    await keeper.anchor();
  };
  using restored = await exportedFolder((keeper) => later(keeper, true));
  const told = await verify(restored);
  expect(told.said).toContain('what followed is lost: an older copy was put back');
  expect(told.exitCode).toBe(11);
  using silent = await exportedFolder((keeper) => later(keeper, false));
  const found = await verify(silent);
  expect(found.said).toContain('9 seals were anchored');
  expect(found.exitCode).toBe(10);
});

describe('called wrongly', () => {
  const usage = /^usage: node verify-trail\.mjs FOLDER --key KEY/;
  it.each([
    ['with nothing', () => [], usage],
    ['without a key', () => [whole.path], usage],
    ['without a folder that is there', () => [join(whole.path, 'none'), '--key', whole.key], usage],
    ['with anchors that are not there', () => [whole.path, '--key', whole.key, '--anchors', 'none'], usage],
    ['with a key that is none', () => [whole.path, '--key', 'fleet'], /^fleet is no key$/],
    [
      'with a key under another name',
      () => [whole.path, '--key', whole.key.replace('fleet', 'flood')],
      / is no key$/,
    ],
  ] as const)('%s it ends with 2 and one sentence', async (_, words, sentence) => {
    const run = await runNode([script, ...words()]);
    expect({ exitCode: run.exitCode, stdout: run.stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(run.stderr.trim()).toMatch(sentence);
  });

  it('with a folder that holds no trail it ends with 2', async () => {
    using directory = temporaryDirectory();
    mkdirSync(join(directory.path, 'empty'));
    const run = await runNode([script, directory.path, '--key', whole.key]);
    expect(run).toEqual({ exitCode: 2, stdout: '', stderr: `${directory.path} holds no trail\n` });
  });
});

describe('its text', () => {
  it('is short, and imports nothing but three modules of Node', () => {
    const code = text.split('\n').filter((line) => !/^\s*(\/\/|\/\*\*|$)/.test(line));
    expect(code.length).toBeLessThanOrEqual(165);
    const imported = [...text.matchAll(/\bfrom '([^']+)'|\bimport\(|\brequire\(/g)].map(([, name]) => name);
    expect(imported).toEqual(['node:crypto', 'node:fs', 'node:path']);
  });

  it('runs alone, wherever it is copied to', async () => {
    using folder = whole.copy();
    const away = join(folder.path, 'verify-trail.mjs');
    folder.write('verify-trail.mjs', text);
    folder.write('anchors.kept', folder.anchors);
    const run = await runNode([
      away,
      folder.path,
      '--key',
      folder.key,
      '--anchors',
      join(folder.path, 'anchors.kept'),
    ]);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
