// An exported folder is verified without the store: whole it passes, and whatever is changed in its files is named.
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openFolderFiles } from '../../../src/audit/archive/folder-files.ts';
import { openCopySource } from '../../../src/audit/archive/open.ts';
import { openArchiveWriter } from '../../../src/audit/archive/writer.ts';
import { openSqliteSource } from '../../../src/audit/sqlite-source.ts';
import { TrailUnusable } from '../../../src/audit/store.ts';
import { notesIn } from '../../../src/core/note-list.ts';
import { runCommandLine } from '../../support/command-line.ts';
import { streamOf } from '../../support/honest-trail.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { type Asked, found, honestKey, keptTrail, verified } from '../../support/verifying.ts';

const directory = temporaryDirectory();
afterAll(() => directory[Symbol.dispose]());
using kept = await keptTrail();
const { clock } = kept.keeper;
const anchored = kept.keeper.anchored.join('');
const whole = join(directory.path, 'whole');
await exportTo(whole);

async function exportTo(path: string): Promise<void> {
  await using source = openSqliteSource(kept.path);
  await using files = openFolderFiles(path);
  const result = await openArchiveWriter(files).copy(source, {
    signal: new AbortController().signal,
    heads: 'all',
  });
  if (result.status !== 'done') throw new Error(`not copied: ${JSON.stringify(result)}`);
}

const usual = { now: clock.at, maxAgeMs: null, anchored };

async function verifiedFolder(path: string, asked: Asked = {}) {
  await using source = await openCopySource({ type: 'folder', path });
  return await verified(source, { ...usual, ...asked });
}

/** A copy of the folder that a test may change. */
function copyOf(name: string): string {
  const path = join(directory.path, name.replaceAll(/\W+/g, '-'));
  rmSync(path, { recursive: true, force: true });
  cpSync(whole, path, { recursive: true });
  return path;
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .sort();

/** The file of entries, or of notes, of partition 0, of the journal or of the seals. */
const fileOf = (
  folder: string,
  stream: 'p0' | 'p1' | 'journal' | 'seal',
  end: 'jsonl' | 'notes' = 'jsonl',
): string => {
  const part = stream.startsWith('p') ? streamOf(Number(stream.slice(1))) : `/${stream}/`;
  return filesIn(folder).find((path) => path.includes(part) && path.endsWith(end)) ?? '';
};

const editLines = (path: string, change: (lines: string[]) => string[]): void => {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  writeFileSync(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(''),
  );
};

const numberedAnew = (lines: readonly string[]): string[] =>
  lines.map((line, index) => line.replace(/^{"index":\d+,/, `{"index":${index},`));

interface Change {
  readonly name: string;
  readonly change: (folder: string) => void;
  readonly exit: number;
  readonly names: readonly string[];
}

const changes: readonly Change[] = [
  {
    name: 'a letter in a body',
    change: (folder) =>
      editLines(fileOf(folder, 'p0'), (lines) =>
        lines.map((line, at) => (at === 3 ? line.replace('undergoing', 'undergoinG') : line)),
      ),
    ...{ exit: 10, names: ['body-changed p0:3'] },
  },
  {
    name: 'a line taken out',
    change: (folder) => editLines(fileOf(folder, 'p0'), (lines) => lines.toSpliced(7, 1)),
    ...{ exit: 10, names: ['entry-missing p0:7'] },
  },
  {
    name: 'a line taken out and the rest numbered anew',
    change: (folder) => editLines(fileOf(folder, 'p0'), (lines) => numberedAnew(lines.toSpliced(7, 1))),
    ...{ exit: 10, names: ['root-differs p0:6', 'entries-missing p0:23', 'seal-beyond p0:23'] },
  },
  {
    name: 'a line twice',
    change: (folder) => editLines(fileOf(folder, 'p0'), (lines) => lines.toSpliced(7, 0, lines[7] ?? '')),
    ...{ exit: 10, names: ['entry-repeated p0:7'] },
  },
  {
    name: 'two lines that changed places',
    change: (folder) =>
      editLines(fileOf(folder, 'p0'), (lines) =>
        numberedAnew(lines.toSpliced(7, 2, lines[8] ?? '', lines[7] ?? '')),
      ),
    ...{ exit: 10, names: ['sequence-falls p0:8', 'root-differs p0:6'] },
  },
  {
    name: 'the last lines cut off',
    change: (folder) => editLines(fileOf(folder, 'p0'), (lines) => lines.slice(0, 20)),
    ...{ exit: 10, names: ['entries-missing p0:20', 'seal-beyond p0:20'] },
  },
  {
    name: 'the last lines and all that was said of them cut off, as in an older copy',
    change: (folder) => {
      for (const stream of ['p0', 'p1'] as const) {
        editLines(fileOf(folder, stream), (lines) => lines.slice(0, 18));
        keepNotes(fileOf(folder, stream, 'notes'), 18);
      }
      editLines(fileOf(folder, 'seal'), (lines) => lines.slice(0, 4));
      keepNotes(fileOf(folder, 'seal', 'notes'), 4);
      editLines(fileOf(folder, 'journal'), (lines) => lines.slice(0, 5));
      keepNotes(fileOf(folder, 'journal', 'notes'), 5);
    },
    ...{ exit: 10, names: ['trail-cut seal:4'] },
  },
  {
    name: 'a file torn in the middle of its last line',
    change: (folder) => truncateSync(fileOf(folder, 'p0'), statSync(fileOf(folder, 'p0')).size - 20),
    ...{ exit: 10, names: ['entries-missing p0:23'] },
  },
  {
    name: 'a line that is no entry',
    change: (folder) => editLines(fileOf(folder, 'p0'), (lines) => [...lines, 'nothing']),
    ...{ exit: 10, names: ['copy-damaged p0'] },
  },
  {
    name: 'a whole file deleted',
    change: (folder) => rmSync(fileOf(folder, 'p0')),
    ...{ exit: 10, names: ['entries-missing p0:0', 'seal-beyond p0:0'] },
  },
  {
    name: 'a whole stream deleted',
    change: (folder) => rmSync(join(folder, streamOf(0)), { recursive: true }),
    ...{ exit: 10, names: ['seal-beyond p0'] },
  },
  {
    name: 'a file moved to another day',
    change: (folder) => {
      const from = fileOf(folder, 'p0');
      const to = from.replace('/10/entries', '/09/entries');
      mkdirSync(dirname(to), { recursive: true });
      renameSync(from, to);
    },
    ...{ exit: 10, names: ['copy-damaged p0'] },
  },
  {
    name: 'all signed heads deleted',
    change: (folder) => {
      for (const path of filesIn(folder)) if (path.endsWith('.notes')) rmSync(path);
    },
    ...{ exit: 10, names: ['signature-missing'] },
  },
  {
    name: 'the signed heads of one partition deleted',
    change: (folder) => rmSync(fileOf(folder, 'p0', 'notes')),
    ...{ exit: 11, names: ['note-missing p0:5'] },
  },
  {
    name: 'bytes between the signed heads',
    change: (folder) => appendFileSync(fileOf(folder, 'p0', 'notes'), 'something\n\n'),
    ...{ exit: 10, names: ['copy-damaged p0'] },
  },
  {
    name: 'a seal changed',
    change: (folder) =>
      editLines(fileOf(folder, 'seal'), (lines) =>
        lines.map((line, at) => (at === 2 ? line.replace('\\"size\\":12', '\\"size\\":11') : line)),
      ),
    ...{ exit: 10, names: ['body-changed seal:2'] },
  },
  {
    name: 'the file that says whose copy it is deleted',
    change: (folder) => rmSync(join(folder, 'trail.json')),
    ...{ exit: 10, names: ['copy-damaged'] },
  },
  {
    name: 'a file that does not belong there',
    change: (folder) => writeFileSync(join(folder, 'README'), 'hello'),
    ...{ exit: 0, names: [] },
  },
];

/** Keeps the notes of a file up to a size. */
function keepNotes(path: string, size: number): void {
  const notes = notesIn(readFileSync(path, 'utf8')).filter((note) => Number(note.split('\n')[1]) <= size);
  writeFileSync(path, notes.map((note) => `${note}\n`).join(''));
}

test('a whole folder is verified with nothing but a key and an anchor, and says that it has no projections', async () => {
  const report = await verifiedFolder(whole);
  expect({ exit: report.exitCode, names: found(report) }).toEqual({ exit: 0, names: [] });
  expect(report.entries).toBe(48);
  expect(report.checks.filter(({ status }) => status !== 'proved').map(({ name }) => name)).toEqual([
    'projections',
  ]);
});

test.each(changes)('finds and names $name', async ({ name, change, exit, names }) => {
  const folder = copyOf(name);
  change(folder);
  const report = await verifiedFolder(folder);
  expect({ exit: report.exitCode, names: found(report) }).toEqual({
    exit,
    names: expect.arrayContaining([...names]),
  });
});

test('one bit flipped in any file is found, or hits what proves nothing', async () => {
  let state = 7;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const entriesOf = async (folder: string): Promise<unknown[]> => {
    await using source = await openCopySource({ type: 'folder', path: folder });
    const all: unknown[] = [];
    for (const { name } of await source.streams()) {
      for await (const chunk of source.entries(name))
        all.push(...chunk.map((entry) => JSON.stringify(entry)));
    }
    return all;
  };
  const honest = await entriesOf(whole);
  const folder = copyOf('flipped');
  const files = filesIn(folder).filter((path) => statSync(path).size > 0);
  let caught = 0;
  for (let turn = 0; turn < 60; turn += 1) {
    const path = files[Math.floor(next() * files.length)] ?? '';
    const before = readFileSync(path);
    const bytes = Buffer.from(before);
    const at = Math.floor(next() * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(next() * 8));
    writeFileSync(path, bytes);
    const report = await verifiedFolder(folder).catch((error) => {
      if (!(error instanceof TrailUnusable)) throw error;
      return null;
    });
    if (report?.exitCode === 0) expect(await entriesOf(folder), `${path}:${at}`).toEqual(honest);
    else caught += 1;
    writeFileSync(path, before);
  }
  expect(caught).toBeGreaterThan(50);
});

test('the command verifies a folder offline, and its exit code and last line say what came of it', async () => {
  const notes = join(directory.path, 'seals.notes');
  writeFileSync(notes, anchored);
  const words = ['audit', 'verify', '--trail', whole, '--key', honestKey.verifier.text];
  const proven = await runCommandLine([...words, '--anchor', notes]);
  expect({ exit: proven.exitCode, stderr: proven.stderr }).toEqual({ exit: 0, stderr: '' });
  expect(proven.stdout.trimEnd().split('\n').at(-1)).toMatch(
    /^VERIFIED 48 entries, 2026-11-10 22:00 \.\. 2026-11-10 22:00 UTC, 2 partitions, anchored up to 2026-11-10 22:02 UTC in .*seals\.notes\.$/,
  );
  const bare = await runCommandLine(words);
  expect(bare.exitCode).toBe(11);
  expect(bare.stdout).toContain('not proven: anchors: no anchor was given');
  const json = await runCommandLine([...words, '--accept', 'no-anchor', '-o', 'json']);
  expect({ exit: json.exitCode, ...JSON.parse(json.stdout) }).toMatchObject({
    ...{ exit: 0, schema: 'seb.audit-verify.v1', verdict: 'verified', entries: 48, partitions: 2, seals: 5 },
  });
  const folder = copyOf('changed');
  changes[0]?.change(folder);
  const tampered = await runCommandLine([...words.with(3, folder), '--anchor', notes]);
  expect(tampered.exitCode).toBe(10);
  expect(tampered.stdout.trimEnd().split('\n').at(-1)).toMatch(
    /^TAMPERED .*the body of entry 3 of .* is not the one that was sealed/,
  );
  const folderAsAnchor = await runCommandLine([...words, '--anchor', folder]);
  expect(folderAsAnchor.stdout).toContain(`the anchor ${folder} cannot be read: it is a directory`);
  const nothing = await runCommandLine([...words.with(3, join(directory.path, 'nowhere'))]);
  expect(nothing.exitCode).toBe(1);
  expect(nothing.stderr).toMatch(/there is no trail at .*; nothing is proven\n$/);
});

test.each([
  [['--accept', 'body-changed'], 'body-changed'],
  [['--accept', 'whatever'], 'whatever'],
  [['-o', 'csv'], 'csv'],
  [['--max-age', 'soon'], 'soon'],
  [['--since', 'whenever'], 'whenever'],
  [['--key', 'nonsense'], '--key'],
  [
    ['--trail', 'postgress://u:s3cr3t@127.0.0.1/x'],
    '--trail takes a file, a folder, postgres://… or https://…',
  ],
  [['--anchor', 'postgres://u:s3cr3t@127.0.0.1/x'], '--anchor takes a file or https://…'],
])('mistakes on the command line are told before anything is read: %s', async (words, named) => {
  const { exitCode, stderr } = await runCommandLine(['audit', 'verify', '--trail', '/nowhere', ...words]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(named);
  expect(stderr).not.toContain('s3cr3t');
});
