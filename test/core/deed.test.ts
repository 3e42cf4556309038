// How severe a record of an approval is: what the rules want is news for nobody at night.
import { expect, test } from 'vitest';
import type { ApprovalData } from '../../src/core/deed.ts';
import { approvalOf } from '../support/deed-records.ts';

type Case = readonly [ApprovalData['decision'], ApprovalData['reason'], string, number];

test.each<Case>([
  ['approved', 'rule', 'INFO', 9],
  ['approved', 'person', 'INFO', 9],
  ['refused', 'no-rule', 'INFO', 9],
  ['refused', 'never', 'INFO', 9],
  ['refused', 'shared', 'WARN', 13],
  ['refused', 'terminates-others', 'WARN', 13],
  ['refused', 'prepare-failed', 'WARN', 13],
  ['failed', 'refused-by-imds', 'WARN', 13],
  ['failed', 'too-late', 'WARN', 13],
  ['failed', 'gone', 'WARN', 13],
])('an approval that is %s (%s) is %s', (decision, reason, text, number) => {
  const { severitytext, severitynumber } = approvalOf({ decision, reason });
  expect([severitytext, severitynumber]).toEqual([text, number]);
});
