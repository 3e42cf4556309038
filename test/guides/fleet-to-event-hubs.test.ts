// Whether the rehearsal in docs/guides/fleet-to-event-hubs.md ends as it says, when it is run as it stands.
import { expect, it } from 'vitest';
import { runOnStage } from './run-on-stage.ts';
import type { BlockResult } from './stage.ts';

it('docs/guides/fleet-to-event-hubs.md brings a reboot from the metadata service into the trail', async () => {
  const found = (await runOnStage('fleet-to-event-hubs.program.ts')) as {
    readonly count: number;
    readonly rehearsed: BlockResult;
    readonly asked: BlockResult;
  };
  expect(found.count).toBe(2);
  expect(found.rehearsed.failed).toEqual([expect.stringMatching(/^timeout .*\(124\)$/)]);
  const rows = found.rehearsed.output.split('\n').filter((line) => line.includes('\tReboot\t'));
  expect(rows).toEqual([expect.stringMatching(/\t~completed\t.*\tWestNO_0$/)]);
  expect(found.asked.failed).toEqual([]);
  expect(found.asked.output).toMatch(/\tReboot\t[\s\S]*"eventType":"Reboot"/);
}, 120_000);
