// `seb audit export` from its command line: a folder that proves itself to strangers, lines with proofs, a table.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openFolderFiles } from '../../src/audit/archive/folder-files.ts';
import { auditExport } from '../../src/commands/audit-export.ts';
import { bytesFromBase64 } from '../../src/core/base64.ts';
import { parseCheckpoint } from '../../src/core/checkpoint.ts';
import { leafHash } from '../../src/core/leaf.ts';
import { verifyInclusion } from '../../src/core/proof.ts';
import { openNote } from '../../src/core/signed-note.ts';
import { contentOf, dayMs, firstDay, grow, readCopy, seal } from '../support/archive/copies.ts';
import { runCommandLine } from '../support/command-line.ts';
import { projectRoot } from '../support/source-files.ts';
import { asHubEvents, eventIdOf, freeze, liveMigration, saying } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { TextSink } from '../support/text-sink.ts';
import { sqliteWorld } from '../support/trail/sqlite-world.ts';
import { append, other, sign, signer, stream } from '../support/trail/world.ts';

const key = signer.verifier.text;

/** A trail of two partitions, signed and sealed. */
async function fleet() {
  const world = sqliteWorld();
  await using trail = await world.open({ sign });
  await trail.journal([{ kind: 'consumer-started', instance: 'one', version: '1.0.0' }]);
  await append(trail, asHubEvents([...liveMigration(0), ...liveMigration(1), 'no record'], 0));
  await append(trail, asHubEvents([...liveMigration(0, 1), Uint8Array.of(0xff, 0x00)], 0), other);
  await seal(trail);
  return world;
}

const verifier = join(projectRoot, 'docs/verify-trail.mjs');
const strangerVerifies = (folder: string) =>
  spawnSync(process.execPath, [verifier, folder, '--key', key], { encoding: 'utf8' });

describe('the whole trail', () => {
  it('goes into a folder that says the same, and that a stranger and this program verify', async () => {
    await using world = await fleet();
    using directory = temporaryDirectory();
    const folder = join(directory.path, 'export');
    const run = await runCommandLine(['audit', 'export', '--trail', world.path, '--to', folder]);
    expect(run).toMatchObject({ exitCode: 0, stdout: '' });
    expect(run.stderr).toContain(`${folder} holds`);
    await using source = await world.source();
    expect(await readCopy(openFolderFiles(folder))).toEqual({ content: await contentOf(source), faults: [] });
    const stranger = strangerVerifies(folder);
    expect(`${stranger.stdout}${stranger.stderr}`).not.toContain('TAMPERED');
    expect([0, 11]).toContain(stranger.status);
    const verified = await runCommandLine(['audit', 'verify', '--trail', folder, '--key', key]);
    expect(verified.stdout + verified.stderr).not.toMatch(/tampered/i);
    expect([0, 11]).toContain(verified.exitCode);
  });

  it('is refused by both once a byte of it was changed', async () => {
    await using world = await fleet();
    using directory = temporaryDirectory();
    await runCommandLine(['audit', 'export', '--trail', world.path, '--to', directory.path]);
    const path = join(directory.path, stream, '2026/11/10/entries-001.jsonl');
    writeFileSync(path, readFileSync(path, 'utf8').replace('no record', 'no Record'));
    expect(strangerVerifies(directory.path).status).toBe(10);
    const verified = await runCommandLine(['audit', 'verify', '--trail', directory.path, '--key', key]);
    expect(verified.exitCode).toBe(10);
  });

  it('gets what is new when it is written again, also after it was broken off', async () => {
    await using world = await fleet();
    using directory = temporaryDirectory();
    const words = ['audit', 'export', '--trail', world.path, '--to', directory.path];
    await runCommandLine(words);
    const before = await readCopy(openFolderFiles(directory.path));
    {
      await using trail = await world.open({ sign });
      await grow(trail, 9, firstDay + dayMs);
      await seal(trail);
    }
    const stopped = await runCommandLine(words, undefined, AbortSignal.abort());
    expect(stopped.exitCode).not.toBe(0);
    expect(await readCopy(openFolderFiles(directory.path))).toEqual(before);
    // Nine, what the journal says of them as they are no records, and a seal.
    expect((await runCommandLine(words)).stderr).toMatch(/11 of them new/);
    await using source = await world.source();
    expect((await readCopy(openFolderFiles(directory.path))).content).toEqual(await contentOf(source));
    expect((await runCommandLine(words)).stderr).toMatch(/ 0 of them new/);
  });

  it('leaves alone a folder with something else in it, and the export of another trail', async () => {
    await using world = await fleet();
    await using stranger = await fleet();
    using directory = temporaryDirectory();
    const to = async (path: string, folder: string) =>
      await runCommandLine(['audit', 'export', '--trail', path, '--to', folder]);
    const folder = join(directory.path, 'export');
    expect((await to(world.path, folder)).exitCode).toBe(0);
    const before = readdirSync(folder, { recursive: true }).toSorted();
    const second = await to(stranger.path, folder);
    expect([second.exitCode, second.stderr]).toEqual([2, expect.stringContaining('export of another trail')]);
    expect(readdirSync(folder, { recursive: true }).toSorted()).toEqual(before);
    const full = join(directory.path, 'full');
    await openFolderFiles(full).append('letter.jsonl', Buffer.from('x\n'), 0, new AbortController().signal);
    const third = await to(world.path, full);
    expect([third.exitCode, third.stderr]).toEqual([2, expect.stringContaining('is not empty')]);
    const file = join(full, 'letter.jsonl');
    const fourth = await to(world.path, file);
    expect([fourth.exitCode, fourth.stderr]).toEqual([
      2,
      `seb: ${file} is a file, and --to takes a folder\n`,
    ]);
  });
});

interface Line {
  readonly stream: string;
  readonly index: number;
  readonly sequenceNumber: number;
  readonly enqueuedMs: number;
  readonly bodySha256: string;
  readonly proof: readonly string[] | null;
}

const hashOf = (text: string): Uint8Array => bytesFromBase64(text) ?? new Uint8Array();

async function linesOf(...words: readonly string[]) {
  const run = await runCommandLine(['audit', 'export', ...words, '-o', 'jsonl']);
  const all = run.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const heads = all.flatMap(({ checkpoint }) => checkpoint ?? []);
  return { run, entries: all.filter(({ checkpoint }) => checkpoint === undefined) as Line[], heads };
}

describe('lines of JSON', () => {
  it('carry a proof each, which leads to a head that a known key signed', async () => {
    await using world = await fleet();
    const { run, entries, heads } = await linesOf('--trail', world.path);
    expect(run.exitCode).toBe(0);
    await using source = await world.source();
    const sizes = (await source.streams()).reduce((sum, { size }) => sum + size, 0);
    expect([entries.length, heads.length]).toEqual([sizes, 4]);
    for (const { stream: name, index, sequenceNumber, enqueuedMs, bodySha256, proof } of entries) {
      const note = heads.find((each: { stream: string }) => each.stream === name)?.note;
      const opened = openNote(note, [signer.verifier]);
      const head = opened.status === 'verified' ? parseCheckpoint(opened.text) : null;
      if (head === null) throw new Error(`the head of ${name} is not signed`);
      const leaf = leafHash({ sequenceNumber, enqueuedMs, bodySha256: hashOf(bodySha256) });
      const path = proof?.map(hashOf) ?? [];
      expect([name, index, verifyInclusion({ leaf, index, path }, head)]).toEqual([name, index, true]);
    }
  });

  it('are those of one event, or of a time', async () => {
    await using world = await fleet();
    const ofEvent = await linesOf('--trail', world.path, '--event', eventIdOf(0).toUpperCase());
    expect(ofEvent.entries.map((line) => [line.stream, line.index])).toEqual([
      ...[0, 1, 2].map((index) => [stream, index]),
      ...[0, 1, 2].map((index) => [other, index]),
    ]);
    const [first, second] = ofEvent.entries.map(({ enqueuedMs }) => new Date(enqueuedMs).toISOString());
    const within = await linesOf('--trail', world.path, '--since', String(first), '--until', String(second));
    expect(within.entries.map((line) => [line.stream, line.index])).toEqual([
      [stream, 0],
      [other, 0],
    ]);
    const none = await linesOf('--trail', world.path, '--event', 'nobody');
    expect([none.run.stdout, none.run.stderr]).toEqual(['', 'no entry matches\n']);
  });

  it('are not given out where the entries are not those that were signed', async () => {
    await using world = await fleet();
    await world.tamper('UPDATE entry SET enqueued_ms = enqueued_ms + 1 WHERE idx = 1');
    const { run } = await linesOf('--trail', world.path);
    expect(run).toMatchObject({ exitCode: 10, stdout: '' });
  });

  it('say so when nobody signed', async () => {
    await using world = sqliteWorld();
    await using trail = await world.open();
    await grow(trail, 3);
    const { run, heads } = await linesOf('--trail', world.path);
    expect(heads.map(({ note }: { note: unknown }) => note)).toEqual([null, null]);
    expect(run.stderr).toContain('are not signed');
  });
});

describe('a table', () => {
  it('has a row for each entry, and no cell that a spreadsheet would run', async () => {
    await using world = sqliteWorld();
    await using trail = await world.open();
    const evil = { description: '=HYPERLINK("http://evil","x")' };
    const record = saying({ event: freeze(0, evil), kind: 'scheduled', vm: 0, after: 0, sequence: 1 });
    await append(trail, asHubEvents([record, 'no record'], 0));
    const run = await runCommandLine([
      'audit',
      'export',
      '--trail',
      world.path,
      '-o',
      'csv',
      '--event',
      eventIdOf(0),
    ]);
    const [head, row, end] = run.stdout.split('\r\n');
    expect(head).toMatch(/^stream,index,sequenceNumber,enqueuedAt,bodySha256,content,id,/);
    expect(row).toContain(`"'=HYPERLINK(""http://evil"",""x"")"`);
    expect([run.exitCode, end]).toEqual([0, '']);
    const all = await runCommandLine(['audit', 'export', '--trail', world.path, '-o', 'csv']);
    expect(all.stdout).toMatch(/parked: not-json/);
    expect(all.stdout.split('\r\n')).toHaveLength(1 + 2 + 2 + 1);
  });

  it('ends at once and without a word when whoever reads has gone', async () => {
    await using world = sqliteWorld();
    await using trail = await world.open();
    await grow(trail, 3_000);
    let writes = 0;
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error('gone'), { code: 'EPIPE' })),
    });
    const counted = new Proxy(stdout, {
      get: (target, name) => {
        if (name === 'write') writes += 1;
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    stdout.on('error', () => undefined);
    const stderr = new TextSink();
    const options = { trail: world.path, output: 'csv' };
    const context = { options, operands: [], stdout: counted, stderr, signal: new AbortController().signal };
    expect([await auditExport.run(context), stderr.text, writes]).toEqual([0, '', 1]);
    const written = await runCommandLine(['audit', 'export', '--trail', world.path, '-o', 'csv']);
    expect(written.stdout.length).toBeGreaterThan(5 * 64 * 1024);
  });
});

describe('the command line', () => {
  it.each([
    [[], 'takes one of --to FOLDER and -o'],
    [['--to', 'x', '-o', 'csv'], 'takes one of --to FOLDER and -o'],
    [['-o', 'xml'], 'takes jsonl or csv'],
    [['--to', 'x', '--since', '1d'], '--to writes the whole trail'],
  ])('is refused with a sentence: %s', async (words, sentence) => {
    const run = await runCommandLine(['audit', 'export', '--trail', 'nowhere.db', ...words]);
    expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining(sentence)]);
  });

  it('says that there is no such trail', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'none.db');
    const run = await runCommandLine(['audit', 'export', '--trail', path, '-o', 'csv']);
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining(path)]);
  });
});
