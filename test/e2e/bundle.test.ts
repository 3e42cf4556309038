// The program as it is published: the bundle lives through maintenance like the source does.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundle } from '../../scripts/build.ts';
import { runNode } from '../support/process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('the bundle carries events to the hub, the webhook and the trail, and its demo adds up', async () => {
  using directory = temporaryDirectory();
  await bundle(directory.path);
  const words = ['demo', '--scenario', 'hardware-failure', '--speed', '1000'];
  const { exitCode, stdout, stderr } = await runNode([join(directory.path, 'seb.cjs'), ...words]);
  expect(stderr).toBe('');
  expect(stdout).toContain('2 POSTs of 2 that were due');
  expect(stdout).toContain('10 records in 10 entries, from 3 agents');
  expect(stdout).toContain('Nothing is missing and nothing came twice.');
  expect(exitCode).toBe(0);
}, 60_000);
