// What approval records say to people: decided how, by whom, why, and what to do now.
import { describe, expect, it } from 'vitest';
import { noticeOf } from '../../../src/core/notice.ts';
import { approvalOf } from '../../support/deed-records.ts';
import { linesOf } from '../../support/notices.ts';

type Change = Parameters<typeof approvalOf>[0];

const told = (change: Change = {}) => linesOf(noticeOf(approvalOf(change)));
const headline = (change: Change = {}) => noticeOf(approvalOf(change)).headline;
const remarks = (change: Change = {}) => noticeOf(approvalOf(change)).remarks;

const portal =
  'https://portal.azure.com/#resource/subscriptions/1111/resourceGroups/rg-westno/virtualMachineScaleSets/WestNO/virtualMachines/0/overview';

const refused = { decision: 'refused', rule: null, elected: null, answer: null } as const;

describe('the notice of an approval', () => {
  it('says first that it was given and by which rule, and that the event starts now', () => {
    expect(told()).toEqual([
      'deed, ongoing',
      'Approved by rule 2: Freeze (about 5 s) on WestNO_0 starts now',
      'Approved: WestNO_0',
      'Freeze (about 5 s)',
      'VM: WestNO_0 →',
      'Event: Freeze: paused, about 5 s',
      'Approved: 2026-11-10 22:12:31 UTC (1794348751204)',
      'Decided by: The agent, by its rules',
      'Rule: 2: approve at once',
      'Sent as: The only VM that the event names',
      'Metadata service: HTTP 200 after 1 attempt',
      'Location: norwaywest / rg-westno',
      'Machine: Standard_D4s_v5, scale set WestNO, fault domain 1',
      `→ ${portal}`,
      '# C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    ]);
  });

  it('names the person who gave it', () => {
    const lines = told({ actor: { kind: 'person', name: 'alice' }, rule: null, elected: 'person' });
    expect(lines[1]).toBe('Approved by alice: Freeze (about 5 s) on WestNO_0 starts now');
    expect(lines).toContain('Decided by: alice, by hand');
    expect(lines).toContain('Sent as: The VM on which it was approved by hand');
  });

  it('counts the other VMs that start with it, and says that the first did not answer', () => {
    const lines = told({ event: { resources: ['WestNO_1', 'WestNO_0', 'WestNO_2'] }, elected: 'second' });
    expect(lines[1]).toBe('Approved by rule 2: Freeze (about 5 s) on WestNO_0 and 2 more VMs starts now');
    expect(lines).toContain('Also named: WestNO_1, WestNO_2');
    expect(lines).toContain('Sent as: The second VM that the event names: the first did not approve in time');
  });

  it('names the sinks that did not have the records when their time was over', () => {
    expect(remarks({ undelivered: ['fleet', 'hook'] })).toEqual([
      "The approval waited no longer for these sinks, which did not have the event's records yet: fleet, hook.",
    ]);
  });
});

describe('the notice of an approval that was not given', () => {
  it('says why, when Azure starts the event, and how to approve it by hand', () => {
    expect(told({ ...refused, reason: 'no-rule' })).toEqual([
      'deed, announced',
      'Not approved: Freeze (about 5 s) on WestNO_0, because no rule fits it',
      'Not approved: WestNO_0',
      'Freeze (about 5 s)',
      'VM: WestNO_0 →',
      'Event: Freeze: paused, about 5 s',
      'Decided: 2026-11-10 22:12:31 UTC (1794348751204)',
      'Not before: 2026-11-10 22:26:58 UTC (1794349618000)',
      'Decided by: The agent, by its rules',
      'Location: norwaywest / rg-westno',
      'Machine: Standard_D4s_v5, scale set WestNO, fault domain 1',
      '! To let it start sooner, run "seb approve C7061BAC-AFDC-4513-B24B-AA5F13A16123" on WestNO_0. Azure starts the event by itself at or after 2026-11-10 22:26:58 UTC.',
      `→ ${portal}`,
      '# C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    ]);
  });

  it.each([
    ['never', 'because rule 1 says never'],
    ['shared', 'because it names other VMs too'],
    ['terminates-others', 'because it would delete other VMs too'],
    ['prepare-failed', 'because a prepare hook failed'],
  ] as const)('says of %s: %s', (reason, because) => {
    const rule = { place: 1, action: 'never' } as const;
    expect(headline({ ...refused, rule, reason })).toBe(
      `Not approved: Freeze (about 5 s) on WestNO_0, ${because}`,
    );
  });

  it('looks alarming after a failed hook, and says to look there first', () => {
    const notice = noticeOf(approvalOf({ ...refused, reason: 'prepare-failed' }));
    expect(notice.tone).toBe('alarming');
    expect(notice.remarks[0]).toMatch(/^See why the hook failed, and make the VM ready\. To let it start/);
  });

  it('never advises to approve what would delete other VMs', () => {
    const [advice] = remarks({ ...refused, reason: 'terminates-others' });
    expect(advice).toMatch(/^Each VM approves only its own deletion\. Azure starts/);
    expect(advice).not.toContain('seb approve');
  });
});

describe('the notice of an approval that failed', () => {
  const failed = { decision: 'failed', answer: { status: 400, attempts: 3 } } as const;

  it('says what the metadata service answered, and how often it was asked', () => {
    const lines = told({ ...failed, reason: 'refused-by-imds' });
    expect(lines.slice(0, 2)).toEqual([
      'deed, alarming',
      'Approval failed: Freeze (about 5 s) on WestNO_0, because the metadata service refuses it (HTTP 400)',
    ]);
    expect(lines).toContain('Metadata service: HTTP 400 after 3 attempts');
  });

  it('says that there was no answer', () => {
    const answer = { status: null, attempts: 7 };
    const lines = told({ ...failed, answer, reason: 'too-late' });
    expect(lines[1]).toContain('because its time came before the metadata service took the request');
    expect(lines).toContain('Metadata service: No answer after 7 attempts');
  });

  it('is quiet about an event that was gone first, and advises nothing', () => {
    const notice = noticeOf(approvalOf({ ...failed, reason: 'gone' }));
    expect([notice.tone, notice.remarks]).toEqual(['quiet', ['There is nothing to approve any more.']]);
  });
});

it('of a later version, with words that are not known here, says them as they are', () => {
  const change = { decision: 'postponed', reason: 'a new one', rule: { place: 3, action: 'ask' } } as never;
  const lines = told(change);
  expect(lines[1]).toBe('Approval: Freeze (about 5 s) on WestNO_0, because a new one');
  expect(lines).toContain('Rule: 3: ask');
});
