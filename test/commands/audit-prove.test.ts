// `seb audit keygen`, `prove` and `verify-proof`: from a key to a proof that two files and that key are enough for.
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { openSigner } from '../../src/audit/signing.ts';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { emptyStream } from '../../src/audit/store.ts';
import type { HubEvent } from '../../src/core/leaf.ts';
import { decodeProof } from '../../src/core/tlog-proof.ts';
import { runCommandLine } from '../support/command-line.ts';
import { type ExportedFolder, exportedFolder } from '../support/exported-folder.ts';
import { keyNamed, streamOf } from '../support/honest-trail.ts';
import { asHubEvents, eventIdOf, liveMigration, vmIdOf } from '../support/synthetic.ts';
import { openForTampering } from '../support/tampering.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../support/temporary-directory.ts';

const stream = 'ns/hub/0/epoch';
const id = `${eventIdOf(0).toLowerCase()}_started`;
const sourceOf = (vm: number): string => `urn:uuid:${vmIdOf(vm)}`;
/** Two VMs tell of one event: entries 0 to 5. */
const events: readonly HubEvent[] = asHubEvents([0, 1].flatMap((vm) => liveMigration(0, vm)));
const bodyOf = (index: number): string => Buffer.from(events[index]?.body ?? []).toString('utf8');

describe('keygen', () => {
  it('writes a key that signs for its owner alone, and prints the one that checks it', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'key');
    const run = await runCommandLine(['audit', 'keygen', '--name', 'audit.example.com/fleet', '--out', path]);
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(run.stdout).toMatch(/^audit\.example\.com\/fleet\+[0-9a-f]{8}\+A[A-Za-z0-9+/]{43}\n$/);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'utf8')).toMatch(
      /^PRIVATE\+KEY\+audit\.example\.com\/fleet\+[0-9a-f]{8}\+A\S+\n$/,
    );
    expect(openSigner([path]).keys).toEqual([run.stdout.trim()]);
  });

  it('never writes over a file, as it may be the only copy of a key', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'key');
    writeFileSync(path, 'old');
    const run = await runCommandLine(['audit', 'keygen', '--name', 'a', '--out', path]);
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toContain('there is such a file, and it may be the only copy of a key');
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  it.each([
    ['no name', ['--out', '/nowhere/key'], 2, 'needs --name'],
    ['no file', ['--name', 'a'], 2, 'needs --out'],
    [
      'a name with a space',
      ['--name', 'my fleet', '--out', '/nowhere/key'],
      2,
      '--name takes a name without spaces',
    ],
    [
      'a directory that is not there',
      ['--name', 'a', '--out', '/nowhere/key'],
      1,
      'its directory is not there',
    ],
  ])('with %s says so and makes nothing', async (_, words, exitCode, sentence) => {
    const run = await runCommandLine(['audit', 'keygen', ...words]);
    expect(run).toMatchObject({ exitCode, stdout: '' });
    expect(run.stderr).toContain(sentence);
  });
});

/** A signed trail, and the words that check it. */
interface Signed {
  readonly trail: string;
  readonly key: string;
  file(name: string): string;
}

async function signedTrail(directory: TemporaryDirectory): Promise<Signed> {
  const file = (name: string): string => join(directory.path, name);
  const made = await runCommandLine([
    'audit',
    'keygen',
    '--name',
    'audit.example.com/fleet',
    '--out',
    file('key'),
  ]);
  await using store = openSqliteTrail(file('trail.db'), { sign: openSigner([file('key')]).sign });
  const first = await store.append(stream, emptyStream, events.slice(0, 4));
  if (first.status !== 'appended') throw new Error(first.status);
  await store.append(stream, first.position, events.slice(4));
  return { trail: file('trail.db'), key: made.stdout.trim(), file };
}

const prove = (trail: string, ...words: readonly string[]) =>
  runCommandLine(['audit', 'prove', '--trail', trail, ...words]);

let directory: TemporaryDirectory;
let signed: Signed;
let folder: ExportedFolder;
beforeAll(async () => {
  directory = temporaryDirectory();
  signed = await signedTrail(directory);
  folder = await exportedFolder();
});
afterAll(() => {
  directory[Symbol.dispose]();
  folder[Symbol.dispose]();
});

/** A proof and its record in files. */
async function provenFiles(name: string): Promise<{ proof: string; record: string }> {
  const [proof, record] = [signed.file(`${name}.tlog-proof`), signed.file(`${name}.json`)];
  const run = await prove(signed.trail, id, '--source', sourceOf(1), '--record', record);
  expect(run.exitCode).toBe(0);
  writeFileSync(proof, run.stdout);
  return { proof, record };
}

const verifyProof = (...words: readonly string[]) => runCommandLine(['audit', 'verify-proof', ...words]);

describe('prove', () => {
  it('prints a proof of the record of one observer, and keeps its very bytes beside it', async () => {
    const { proof, record } = await provenFiles('one');
    expect(decodeProof(readFileSync(proof, 'utf8'))).toMatchObject({ index: 4 });
    expect(readFileSync(record, 'utf8')).toBe(bodyOf(4));
    const run = await verifyProof(proof, record, '--key', signed.key);
    expect(run).toEqual({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^proven: this record is entry 4 of ns\/hub\/0\/epoch, sequence number 4, stored there at 2026-11-10T\S+Z, in the tree of 6 entries that audit\.example\.com\/fleet signed\n$/,
      ),
      stderr: '',
    });
  });

  it('proves each entry by its place as well, against the newest head', async () => {
    for (const index of events.keys()) {
      const run = await prove(signed.trail, '--stream', stream, '--sequence-number', String(index));
      expect(run.stderr).toBe(
        `entry ${index} of ${stream}, sequence number ${index}, stands in the signed tree of 6 entries\n`,
      );
      const [proof, record] = [signed.file('each.tlog-proof'), signed.file('each.json')];
      writeFileSync(proof, run.stdout);
      writeFileSync(record, bodyOf(index));
      expect((await verifyProof(proof, record, '--key', signed.key)).exitCode).toBe(0);
    }
  });

  it('proves a fact of the journal like any entry', async () => {
    const journal = folder.journal;
    const run = await prove(folder.path, '--stream', journal, '--index', '0');
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toContain(`\n${journal}\n`);
  });

  it('finds a record in an exported folder, which keeps no index', async () => {
    const run = await prove(folder.path, id, '--source', sourceOf(1), '--key', folder.key);
    expect(run.exitCode).toBe(0);
    expect(run.stdout).toContain(`\n${streamOf(0)}\n24\n`);
    expect((await prove(folder.path, 'none_started')).stderr).toContain('or it was pruned');
    // The beginning of an id is in the bytes of its record, and no id.
    expect((await prove(folder.path, id.slice(0, -1), '--source', sourceOf(1))).stderr).toContain(
      'holds no record',
    );
  });

  it('says which observers sent an id when several did, and with a wrong one too', async () => {
    const several = await prove(signed.trail, id);
    expect(several).toMatchObject({ exitCode: 1, stdout: '' });
    expect(several.stderr).toBe(
      `seb: 2 observers sent this id; say which with --source: ${sourceOf(0)}, ${sourceOf(1)}\n`,
    );
    const wrong = await prove(signed.trail, id, '--source', 'urn:x');
    expect(wrong.stderr).toBe(
      `seb: no record "${id}" is from that source, but ${sourceOf(0)}, ${sourceOf(1)}\n`,
    );
  });

  it('asks for the place of a record that stands there with different bytes', async () => {
    using own = temporaryDirectory();
    const path = join(own.path, 'trail.db');
    const other = {
      ...events[1],
      sequenceNumber: 6,
      body: Buffer.from(bodyOf(1).replace('Freeze', 'Reboot')),
    };
    await using store = openSqliteTrail(path);
    await store.append(stream, emptyStream, [...events, other as HubEvent]);
    const run = await prove(path, id, '--source', sourceOf(0));
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toContain(
      `--stream ${stream} --index 1 (from ${sourceOf(0)}), --stream ${stream} --index 6`,
    );
  });

  it.each([
    ['an id that is not there', ['none_started'], 'holds no record "none_started"'],
    [
      'the id of an event',
      ['c7061bac'],
      'holds no record "c7061bac"; the id of a record is that of its event',
    ],
    [
      'a stream that is not there',
      ['--stream', 'none', '--sequence-number', '0'],
      'holds no such entry of none',
    ],
    ['a number that is not there', ['--stream', stream, '--sequence-number', '6'], 'holds no such entry'],
    ['an index beyond the end', ['--stream', stream, '--index', '6'], 'holds no such entry'],
    [
      'a key that did not sign',
      ['--stream', stream, '--index', '1', '--key', keyNamed('x').verifier.text],
      'no signed head',
    ],
  ])('with %s ends with 1 and one sentence', async (_, words, sentence) => {
    const run = await prove(signed.trail, ...words);
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toContain(sentence);
  });

  it.each([
    ['nothing named', []],
    ['an id and a place', [id, '--stream', stream, '--sequence-number', '0']],
    ['a stream alone', ['--stream', stream]],
    ['a stream and two numbers', ['--stream', stream, '--sequence-number', '0', '--index', '0']],
    ['a source of a place', ['--stream', stream, '--index', '0', '--source', 'x']],
  ])('with %s asks what is meant', async (_, words) => {
    const run = await prove(signed.trail, ...words);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain('say which record is meant');
  });

  it('says that nobody signed a trail without a key', async () => {
    using own = temporaryDirectory();
    const path = join(own.path, 'trail.db');
    await using store = openSqliteTrail(path);
    await store.append(stream, emptyStream, events);
    const run = await prove(path, '--stream', stream, '--index', '0');
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toContain('the consumer signs when its "signing.keyFile" is set');
  });

  it('never writes over a file with the record, and prints the proof all the same', async () => {
    const path = signed.file('taken');
    writeFileSync(path, 'old');
    const run = await prove(signed.trail, '--stream', stream, '--index', '0', '--record', path);
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toContain(`${path} was not written: there is such a file`);
    expect(run.stdout).toContain('c2sp.org/tlog-proof@v1');
    expect(readFileSync(path, 'utf8')).toBe('old');
  });

  it.each([
    [
      'a body that was changed',
      (id: number) => `UPDATE entry SET body = x'78' WHERE stream = ${id} AND idx = 2`,
      'not those that its hash is of',
    ],
    [
      'another entry that was changed',
      (id: number) => `UPDATE entry SET enqueued_ms = 0 WHERE stream = ${id} AND idx = 5`,
      'are not those that were signed',
    ],
    [
      'an entry that is gone',
      (id: number) => `DELETE FROM entry WHERE stream = ${id} AND idx = 4`,
      'are not those that were signed',
    ],
    [
      'the end that is gone',
      (id: number) => `DELETE FROM entry WHERE stream = ${id} AND idx = 5`,
      'are not those that were signed',
    ],
  ])('proves nothing over %s, and ends with 10', async (_, sql, sentence) => {
    using own = temporaryDirectory();
    const { trail } = await signedTrail(own);
    {
      using opened = openForTampering(trail);
      opened.run(sql(opened.id(stream)));
    }
    const run = await prove(trail, '--stream', stream, '--index', '2');
    expect(run).toMatchObject({ exitCode: 10, stdout: '' });
    expect(run.stderr).toContain(sentence);
  });
});

test('a record that was pruned is proven to whoever has kept it, and by its hash', async () => {
  using own = temporaryDirectory();
  const { trail, key, file } = await signedTrail(own);
  {
    await using store = openSqliteTrail(trail, { sign: openSigner([file('key')]).sign });
    expect(await store.prune(Date.UTC(2027, 0))).toMatchObject({ status: 'pruned' });
  }
  const run = await prove(trail, '--stream', stream, '--index', '3');
  expect(run.exitCode).toBe(0);
  const hash = /its bytes were pruned; .* --sha256 ([0-9a-f]{64})\n$/.exec(run.stderr)?.[1] ?? '';
  writeFileSync(file('proof'), run.stdout);
  writeFileSync(file('kept'), bodyOf(3));
  expect((await verifyProof(file('proof'), file('kept'), '--key', key)).exitCode).toBe(0);
  expect((await verifyProof(file('proof'), '--sha256', hash, '--key', key)).exitCode).toBe(0);
  expect(
    (
      await verifyProof(
        file('proof'),
        '--sha256',
        hash.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
        '--key',
        key,
      )
    ).exitCode,
  ).toBe(10);
  const asked = await prove(trail, '--stream', stream, '--index', '3', '--record', file('record'));
  expect(asked.exitCode).toBe(1);
  expect(asked.stderr).toContain('was not written: the bytes of this record were pruned');
  expect(existsSync(file('record'))).toBe(false);
});

describe('verify-proof', () => {
  it.each([
    [
      'a record of which one letter is another',
      (proof: string, record: string) => [proof, record.replace('Freeze', 'Reboot')],
      'not the bytes that the proof is for',
    ],
    ['the record of another', (proof: string) => [proof, bodyOf(1)], 'not the bytes that the proof is for'],
    [
      'a record that an editor ended with a line break',
      (proof: string, record: string) => [proof, `${record}\n`],
      'a line break at its end that the record does not have; without it, the record is proven',
    ],
    [
      'another record with a line break',
      (proof: string) => [proof, `${bodyOf(1)}\n`],
      'not the bytes that the proof is for',
    ],
    [
      'another index',
      (proof: string, record: string) => [proof.replace('index 4', 'index 5'), record],
      'does not lead to the root',
    ],
    [
      'another size',
      (proof: string, record: string) => [proof.replace('\n6\n', '\n7\n'), record],
      'the signature of a given key is not valid',
    ],
    [
      'no signature',
      (proof: string, record: string) => [proof.replace(/— .*\n/, ''), record],
      'nobody signed',
    ],
    ['no proof', (_: string, record: string) => ['hello', record], 'damaged, or no proof at all'],
  ] as const)('of %s ends with 10 and says what is wrong', async (_, change, sentence) => {
    const { proof, record } = await provenFiles(`wrong-${crypto.randomUUID()}`);
    const [changedProof = '', changedRecord = ''] = change(
      readFileSync(proof, 'utf8'),
      readFileSync(record, 'utf8'),
    );
    writeFileSync(proof, changedProof);
    writeFileSync(record, changedRecord);
    const run = await verifyProof(proof, record, '--key', signed.key);
    expect(run).toMatchObject({ exitCode: 10, stderr: '' });
    expect(run.stdout).toMatch(/^not proven: .*\n$/);
    expect(run.stdout).toContain(sentence);
  });

  it('trusts the keys of a file, one on each line, beside those of the command line', async () => {
    const { proof, record } = await provenFiles('keys');
    const keys = signed.file('keys.txt');
    writeFileSync(keys, `# the fleet\n\n${keyNamed('x').verifier.text}\n ${signed.key} \r\n`);
    expect((await verifyProof(proof, record, '--key-file', keys)).exitCode).toBe(0);
    const other = ['--key', keyNamed('x').verifier.text];
    expect((await verifyProof(proof, record, '--key-file', keys, ...other)).exitCode).toBe(0);
    const stranger = await verifyProof(proof, record, ...other);
    expect(stranger).toMatchObject({
      exitCode: 10,
      stdout: 'not proven: none of the given keys signed the checkpoint in the proof\n',
    });
  });

  it.each([
    ['no key', [], 'say whom to trust: --key or --key-file'],
    ['a key that is none', ['--key', 'fleet'], '--key is no verifier key'],
    [
      'a key whose id is another',
      ['--key', keyNamed('a').verifier.text.replace('a+', 'b+')],
      'its id does not fit its name and key',
    ],
    [
      'a file of keys that is not there',
      ['--key-file', '/nowhere'],
      '/nowhere cannot be read: there is no such file',
    ],
    [
      'a hash beside the record',
      ['--key', keyNamed('a').verifier.text, '--sha256', 'ab'],
      'either the file RECORD or --sha256',
    ],
  ])('with %s ends with 2 and one sentence', async (_, words, sentence) => {
    const { proof, record } = await provenFiles(`usage-${crypto.randomUUID()}`);
    const run = await verifyProof(proof, record, ...words);
    expect(run).toMatchObject({ exitCode: 2, stdout: '' });
    expect(run.stderr).toContain(sentence);
  });

  it('ends with 2 when a file cannot be read, a hash is none, or a file of keys holds none', async () => {
    const { proof, record } = await provenFiles('files');
    const key = ['--key', signed.key];
    const empty = signed.file('empty');
    writeFileSync(empty, '# nothing\n');
    const runs = await Promise.all([
      verifyProof('/nowhere', record, ...key),
      verifyProof(proof, '/nowhere', ...key),
      verifyProof(proof, directory.path, ...key),
      verifyProof(proof, '--sha256', 'abc', ...key),
      verifyProof(proof, record, '--key-file', empty),
    ]);
    expect(runs.map(({ exitCode, stderr }) => [exitCode, stderr.split(': ').at(-1)])).toEqual([
      [2, 'there is no such file\n'],
      [2, 'there is no such file\n'],
      [2, 'it is a directory\n'],
      [2, '--sha256 takes the 64 hex digits of a SHA-256\n'],
      [2, `${empty} holds no key\n`],
    ]);
  });

  it('refuses the key that signs where a verifier key belongs, without repeating it', async () => {
    const { proof, record } = await provenFiles('secret');
    const secret = readFileSync(signed.file('key'), 'utf8').trim();
    for (const words of [
      ['--key', secret],
      ['--key-file', signed.file('key')],
    ]) {
      const run = await verifyProof(proof, record, ...words);
      expect(run.exitCode).toBe(2);
      expect(run.stderr).toContain('is the key that signs, which is a secret: give the verifier key');
      expect(run.stderr).not.toContain(secret.slice(-40));
    }
  });
});

test('a key file that cannot be used is a fault of the configuration, told in one sentence', async () => {
  using own = temporaryDirectory();
  const path = join(own.path, 'key');
  writeFileSync(path, 'PRIVATE+KEY+nonsense');
  chmodSync(path, 0o600);
  const { SigningUnusable } = await import('../../src/audit/signing.ts');
  const { explain } = await import('../../src/commands/dispatch.ts');
  const told = await explain(new SigningUnusable(`the key file ${path} cannot be used`));
  expect(told).toEqual({ exitCode: 2, sentence: `the key file ${path} cannot be used` });
});
