// Whether docs/guides/proxy-and-private-endpoints.md gets out through a proxy: its blocks are run as they stand.
import { expect, it } from 'vitest';
import { runOnStage } from './run-on-stage.ts';
import type { BlockResult, StageRequest } from './stage.ts';

it('docs/guides/proxy-and-private-endpoints.md reaches Slack and a hub through the proxy alone', async () => {
  const found = (await runOnStage('proxy.program.ts')) as {
    readonly count: number;
    readonly written: BlockResult;
    readonly tried: BlockResult;
    readonly ways: readonly string[];
    readonly sent: readonly StageRequest[];
  };
  expect(found.count).toBe(2);
  expect([...found.written.failed, ...found.tried.failed]).toEqual([]);
  expect(found.tried.output).toMatch(/^sink fleet\tok\t/m);
  expect(found.tried.output).toMatch(/^ops\tslack\tdelivered\t/m);
  expect(found.sent.map(({ host }) => host)).toEqual(['hooks.slack.com']);
  expect(new Set(found.ways)).toEqual(new Set(['hooks.slack.com:443', 'example.servicebus.windows.net:443']));
  expect(JSON.stringify(found)).not.toContain('marker-password');
}, 120_000);
