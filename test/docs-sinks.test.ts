// Whether docs/sinks.md quotes what chats really say of approvals, hooks and impact, and how severe each of them is.
import { expect, it } from 'vitest';
import { noticeOf } from '../src/core/notice.ts';
import { approvalOf, hookOf, impactOf, rebootImpact } from './support/deed-records.ts';
import { pageText } from './support/markdown.ts';

const page = pageText('docs/sinks.md');
const rowOf = (family: string): string =>
  page.split('\n').find((line) => line.startsWith(`| \`${family}\` |`)) ?? '';

const event = { eventType: 'Reboot', durationSeconds: null };
const moved = { temporaryDisk: 'gone', faultDomain: { before: '1', after: '1' } } as const;

it.each([
  ['approval', approvalOf()],
  ['approval', approvalOf({ event, decision: 'refused', reason: 'prepare-failed' })],
  ['hook', hookOf({ outcome: 'failed', exitCode: 3 })],
  ['impact', impactOf()],
  ['impact', rebootImpact({ moved })],
])('in the row of %s as it is said: %#', (family, record) => {
  expect(rowOf(family)).toContain(`\`${noticeOf(record).headline}\``);
});

it('gives each its severities', () => {
  const severities = (...records: readonly { readonly severitytext: string }[]) =>
    records.map(({ severitytext }) => severitytext);
  expect(rowOf('approval')).toContain(
    '| INFO when it went as the rules want it: approved, or refused for `no-rule` or `never`; else WARN |',
  );
  const decisions = [
    approvalOf(),
    ...(['no-rule', 'never', 'shared', 'prepare-failed'] as const).map((reason) =>
      approvalOf({ decision: 'refused', reason }),
    ),
    approvalOf({ decision: 'failed', reason: 'too-late' }),
  ];
  expect(severities(...decisions)).toEqual(['INFO', 'INFO', 'INFO', 'WARN', 'WARN', 'WARN']);
  expect(rowOf('hook')).toContain('| INFO when it started or succeeded, else ERROR |');
  const outcomes = (['started', 'succeeded', 'failed', 'not-started'] as const).map((outcome) =>
    hookOf({ outcome }),
  );
  expect(severities(...outcomes)).toEqual(['INFO', 'INFO', 'ERROR', 'ERROR']);
  expect(rowOf('impact')).toContain('| INFO |');
  expect(severities(impactOf(), rebootImpact())).toEqual(['INFO', 'INFO']);
});
