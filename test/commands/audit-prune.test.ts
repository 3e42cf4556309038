// `seb audit prune`: beside a consumer, signed as it signs, never under a legal hold.
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { openSigner } from '../../src/audit/signing.ts';
import { checkpointText } from '../../src/core/checkpoint.ts';
import { openNote, parseVerifierKey } from '../../src/core/signed-note.ts';
import { runCommandLine } from '../support/command-line.ts';
import { keyBeside } from '../support/running-consumer.ts';
import { asHubEvents, liveMigration } from '../support/synthetic.ts';
import { sqliteWorld } from '../support/trail/sqlite-world.ts';
import {
  append,
  entriesOf,
  headsOf,
  idOf,
  journalOf,
  other,
  restoredFrom,
  stream,
} from '../support/trail/world.ts';

/** A signed trail that a consumer keeps open, and the words that name its file. */
async function keptTrail() {
  const world = sqliteWorld();
  const keyFile = keyBeside(world.path);
  const file = join(dirname(world.path), 'consumer.yaml');
  const hub = {
    connectionString: 'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=n;SharedAccessKey=k;EntityPath=e',
  };
  writeFileSync(file, JSON.stringify({ hub, trail: { path: world.path }, signing: { keyFile } }));
  const signer = openSigner([keyFile]);
  const trail = await world.open({ sign: signer.sign });
  await append(trail, asHubEvents([...liveMigration(), ...liveMigration(1)]));
  await append(trail, asHubEvents(liveMigration(), 3), other);
  const prune = (...words: string[]) => runCommandLine(['audit', 'prune', '-c', file, ...words]);
  return {
    ...{ world, trail, prune, keys: signer.keys },
    [Symbol.asyncDispose]: async () => {
      await trail[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
    },
  };
}

const before = '2026-11-10T22:00:04Z';

it('says what would go, prunes it beside a consumer, and prints the bodies of each stream', async () => {
  await using kept = await keptTrail();
  const rows = `${stream}\t4\n${other}\t1\n`;
  expect(await kept.prune('--before', before, '--dry-run')).toEqual({
    exitCode: 0,
    stdout: rows,
    stderr: '',
  });
  expect((await entriesOf(kept.world, stream)).filter(({ body }) => body === null)).toHaveLength(0);
  expect(await kept.prune('--before', before)).toEqual({ exitCode: 0, stdout: rows, stderr: '' });
  expect((await entriesOf(kept.world, stream)).map(({ body }) => body === null)).toEqual([
    ...[true, true, true, true, false, false],
  ]);
  expect(await kept.prune('--before', before, '-o', 'json')).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  expect(await append(kept.trail, asHubEvents(liveMigration(2), 6))).toMatchObject({ status: 'appended' });
  expect(await kept.trail.check()).toMatchObject({ pruned: 5, different: [], damaged: [] });
});

it('signs what it writes with the keys of the consumer', async () => {
  await using kept = await keptTrail();
  await kept.prune('--before', before);
  const keys = kept.keys.flatMap((text) => {
    const parsed = parseVerifierKey(text);
    return parsed.status === 'parsed' ? [parsed.key] : [];
  });
  for (const { name, tree, note } of await headsOf(kept.trail)) {
    expect(openNote(note ?? '', keys)).toMatchObject({
      status: 'verified',
      text: checkpointText(name, tree),
    });
  }
});

it('writes nothing to a signed trail without its key', async () => {
  await using kept = await keptTrail();
  const heads = await headsOf(kept.trail);
  for (const words of [
    ['--before', before],
    ['--hold', 'case-1'],
  ]) {
    const run = await runCommandLine(['audit', 'prune', '--trail', kept.world.path, ...words]);
    expect(run).toMatchObject({ exitCode: 1, stdout: '' });
    expect(run.stderr).toContain('the trail is signed: give the consumer’s file with -c');
  }
  expect(await headsOf(kept.trail)).toEqual(heads);
});

it('stops at a legal hold with its name, also when the trail began its own streams anew, until it is released', async () => {
  await using kept = await keptTrail();
  expect(await kept.prune('--hold', 'case 2026/17')).toMatchObject({
    exitCode: 0,
    stderr: 'a legal hold stands: case 2026/17\n',
  });
  expect(await kept.prune('--hold', 'case 2026/17')).toMatchObject({ exitCode: 0 });
  await kept.trail.renew(restoredFrom(await idOf(kept.trail)));
  await kept.prune('--hold', 'other');
  for (const words of [
    ['--before', before],
    ['--before', before, '--dry-run'],
  ]) {
    expect(await kept.prune(...words)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'seb: nothing is pruned: a legal hold stands: case 2026/17, other\n',
    });
  }
  expect(await kept.prune('--release', 'case 2026')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('there is no legal hold "case 2026" to be released'),
  });
  expect(await kept.prune('--release', 'case 2026/17')).toMatchObject({ exitCode: 0 });
  expect(await kept.prune('--release', 'other')).toMatchObject({
    exitCode: 0,
    stderr: 'no legal hold stands\n',
  });
  expect(await kept.prune('--before', before)).toMatchObject({ exitCode: 0 });
  const facts = await journalOf(kept.world, kept.trail);
  expect(facts.map(({ kind }) => kind)).toEqual([
    ...['restored', 'held', 'released', 'released', 'pruned', 'pruned'],
  ]);
});

it('makes no trail where there is none, and says so', async () => {
  await using world = sqliteWorld();
  for (const words of [
    ['prune', '--before', '1d'],
    ['prune', '--hold', 'case-1'],
    ['replay', '--rebuild'],
  ]) {
    expect(await runCommandLine(['audit', ...words, '--trail', world.path])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `seb: there is no trail at ${world.path}; "seb consumer" makes it when it first runs\n`,
    });
    expect(existsSync(world.path)).toBe(false);
  }
});

it('takes exactly one thing to do, and names what it does not understand', async () => {
  await using kept = await keptTrail();
  const refused: readonly (readonly [readonly string[], string])[] = [
    [[], 'takes one of --before, --hold and --release'],
    [['--before', '1d', '--hold', 'x'], 'takes one of --before, --hold and --release'],
    [['--before', 'soon'], '--before takes a time such as'],
    [['--hold', 'x', '--dry-run'], '--dry-run belongs to --before'],
    [['--hold', ' '], 'a legal hold has a name'],
    [['--hold', 'a\nb'], 'a legal hold has a name'],
  ];
  for (const [words, sentence] of refused) {
    const run = await kept.prune(...words);
    expect(run.exitCode, words.join(' ')).toBe(2);
    expect(run.stderr).toContain(sentence);
  }
});
