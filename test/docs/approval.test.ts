// Whether the configurations in docs/approval.md do what stands above each of them.
import { expect, it } from 'vitest';
import { parseConfiguration } from '../../src/config/load.ts';
import { decideApproval } from '../../src/core/approval.ts';
import type { ScheduledEvent } from '../../src/core/document.ts';
import { codeBlocks } from '../support/markdown.ts';
import { sampleEvent } from '../support/records.ts';
import { agentSettings } from '../support/sink-kinds.ts';

const now = Date.UTC(2026, 10, 10, 22, 0);

/** What the policy of a block says about an event that names this VM alone, unless told otherwise. */
function said(block: number, change: Partial<ScheduledEvent>, hasHooks = false): string {
  const text = codeBlocks('docs/approval.md', 'yaml')[block]?.text ?? '';
  const { approval, hooks } = parseConfiguration(text, 'agent.yaml', agentSettings);
  expect(hooks.length > 0).toBe(hasHooks);
  const event = sampleEvent({ resources: ['web1'], ...change });
  const preparation = hasHooks ? 'succeeded' : 'none';
  const subject = { event, notBefore: event.notBefore, firstSeenAt: now, approved: false, vmName: 'web1' };
  const decision = decideApproval({ ...subject, preparation, undelivered: [] }, approval, now);
  return decision.status === 'refused' ? decision.reason : decision.status;
}

it('approves restarts that users ask for, by the first', () => {
  expect(said(0, { eventType: 'Reboot', eventSource: 'User', durationSeconds: null })).toBe('approve');
  expect(said(0, { eventType: 'Reboot', eventSource: 'Platform' })).toBe('no-rule');
});

it('approves freezes of up to 9 seconds, by the second', () => {
  const lengths = [0, 5, 9, 10, null];
  expect(lengths.map((durationSeconds) => said(1, { durationSeconds }))).toEqual([
    ...['approve', 'approve', 'approve', 'no-rule', 'no-rule'],
  ]);
  expect(said(1, { eventType: 'Reboot', durationSeconds: 5 })).toBe('no-rule');
});

it('approves what names this VM alone after its hooks, by the third', () => {
  expect(said(2, {}, true)).toBe('approve');
  expect(said(2, { resources: ['web1', 'web2'] }, true)).toBe('no-rule');
});

it('approves by the first rule that fits, by the fourth', () => {
  expect(said(3, { eventType: 'Terminate', eventSource: 'User' })).toBe('never');
  expect(said(3, { eventType: 'Redeploy', eventSource: 'User', resources: ['web1', 'web2'] })).toBe(
    'approve',
  );
  expect(said(3, { eventType: 'Redeploy', resources: ['web1', 'web2'] })).toBe('no-rule');
});
