// How the agent tells one temporary disk from another: real file systems, in a mount namespace of the test's own.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startNode } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const program = join(import.meta.dirname, '../support/temporary-disk-program.ts');

/** The lines that a shell script says; in it, `ask given` and `ask found` say which disk is at `$place`. */
async function say(place: string, script: string): Promise<readonly string[]> {
  const ask = `ask() { "${process.execPath}" "${program}" "$1" "$place"; }`;
  // A file system is changed a moment after its birth: on some, both have the same time otherwise.
  const mount = 'born() { mount -t tmpfs none "$place" && sleep 0.05; }';
  const words = ['-rm', 'sh', '-euc', `place=$1; ${ask}; ${mount}; ${script}`, 'sh', place];
  await using running = startNode(words, { program: 'unshare' });
  expect(await running.ended(), running.output().stderr).toBe(0);
  return running.output().stdout.trim().split('\n');
}

test('a new file system at the same place is another disk, and what is written to one changes nothing', async () => {
  using directory = temporaryDirectory();
  const readme = 'touch "$place/DATALOSS_WARNING_README.txt"';
  const script = [
    `born; ${readme}; ask found; ask given; touch "$place/more"; ask found`,
    `umount "$place"; born; ${readme}; ask found`,
  ].join('; ');
  const [found, given, written, another] = await say(directory.path, script);
  expect(found).toMatch(/^\d{13}-\d+$/);
  expect([given, written]).toEqual([found, found]);
  expect(another).toMatch(/^\d{13}-\d+$/);
  expect(another).not.toBe(found);
});

test('a folder that nothing is mounted on is none; a disk without Azure’s warning only where the settings name it', async () => {
  using directory = temporaryDirectory();
  const script =
    'touch "$place/DATALOSS_WARNING_README.txt"; ask given; ask found; born; touch "$place/x"; ask found; ask given';
  const [folderGiven, folderFound, found, given] = await say(directory.path, script);
  expect([folderGiven, folderFound, found]).toEqual(['null', 'null', 'null']);
  expect(given).toMatch(/^\d{13}-\d+$/);
});
