// Whether docs/guides/one-vm-to-slack.md leads to where it says: each of its blocks is run as it stands.
import { expect, it } from 'vitest';
import { runOnStage } from './run-on-stage.ts';
import type { BlockResult, StageRequest } from './stage.ts';

interface Found {
  readonly count: number;
  readonly mode: number;
  readonly results: Readonly<Record<'saved' | 'written' | 'tried' | 'looked' | 'rehearsed', BlockResult>>;
  readonly sent: { readonly test: readonly StageRequest[]; readonly rehearsal: readonly StageRequest[] };
}

it('docs/guides/one-vm-to-slack.md brings a test message and the phases of an event to Slack', async () => {
  const { count, mode, results, sent } = (await runOnStage('one-vm-to-slack.program.ts')) as Found;
  expect(count).toBe(5);
  expect(mode).toBe(0o600);
  expect([results.saved, results.written].map(({ failed }) => failed)).toEqual([[], []]);
  expect(results.tried.failed).toEqual([]);
  expect(results.tried.output).toMatch(/^sink ops\tok\t[\s\S]*^ops\tslack\tdelivered\t/m);
  expect(results.looked.failed).toEqual([]);
  expect(results.looked.output).toContain('"ready":true');
  expect(results.rehearsed.failed).toEqual([expect.stringContaining('timeout')]);
  expect(sent.test.map(({ host }) => host)).toEqual(['hooks.slack.com']);
  const phases = sent.rehearsal.map(({ body }) =>
    /scheduled|started|completed/i.exec(body)?.[0].toLowerCase(),
  );
  expect(phases).toEqual(['scheduled', 'started', 'completed']);
  expect(JSON.stringify(results)).not.toContain('marker0123456789');
}, 120_000);
