// Whether docs/guides/prove-the-trail.md ends as it says, when it is typed as it stands.
import { expect, it } from 'vitest';
import { runOnStage } from './run-on-stage.ts';
import type { BlockResult } from './stage.ts';

it('docs/guides/prove-the-trail.md and docs/audit.md: what is whole is proven, and what was changed is found', async () => {
  const found = (await runOnStage('prove-the-trail.program.ts')) as {
    readonly count: number;
    readonly followed: BlockResult;
    readonly key: BlockResult;
    readonly proven: BlockResult;
  };
  const [, ...blocks] = found.followed.output.split(/^BLOCK \d+\n/m);
  expect(blocks).toHaveLength(found.count);
  const [begin = '', anchor = '', verify = '', forge = '', old = '', prove = '', copy = ''] = blocks;
  expect(begin).toMatch(/\tReboot\t/);
  expect(anchor).toMatch(/^trail\/[^/\n]+\/seal\n\d+\n\S{44}\n\n— audit\.example\.com\/fleet /m);
  expect(anchor).toMatch(/^audit\.example\.com\/fleet\+[0-9a-f]{8}\+\S+$/m);
  expect(verify).toContain('exit code 0');
  expect(forge).toContain('body-changed');
  expect(forge).toContain('exit code 10');
  expect(old).toContain('without an anchor nobody can tell');
  expect(old).toContain('trail-cut');
  expect(old).toContain('exit code 10');
  expect(prove).toMatch(/proven/i);
  expect(copy).toMatch(/verified/i);
  // The agent runs until it is told to stop, and so does the consumer that goes on for a moment.
  const commands = found.followed.failed.filter((line) => /\(\d+\)$/.test(line));
  expect(commands).toEqual([
    expect.stringMatching(/^timeout 10 seb agent .*\(124\)$/),
    expect.stringMatching(/^timeout 5 seb consumer .*\(124\)$/),
  ]);
  expect(found.key.output).toMatch(/^signing\.key$/m);
  expect([found.key.failed, found.proven.failed]).toEqual([[], []]);
}, 120_000);
