// What hook records say to people: which program, for which event, how it ended, what it wrote, and what follows.
import { describe, expect, it } from 'vitest';
import { noticeOf } from '../../../src/core/notice.ts';
import { hookOf } from '../../support/deed-records.ts';
import { linesOf } from '../../support/notices.ts';

type Change = Parameters<typeof hookOf>[0];

const noticeFor = (change: Change = {}) => noticeOf(hookOf(change));
const told = (change: Change = {}) => linesOf(noticeFor(change));

const running = {
  outcome: 'started',
  exitCode: null,
  durationMs: null,
  output: null,
  outputTruncated: false,
} as const;

describe('the notice of a hook', () => {
  it('that started says for which event and VM, and by when it has to be done', () => {
    expect(told(running)).toEqual([
      'deed, ongoing',
      'Prepare hook started: drain.sh, for Reboot (restarted) on WestNO_0',
      'Prepare hook started: WestNO_0',
      'drain.sh for Reboot (restarted)',
      'VM: WestNO_0 →',
      'Event: Reboot: restarted, length unknown',
      'Hook: /usr/local/bin/drain.sh',
      'Started: 2026-11-10 22:12:29 UTC (1794348749000)',
      'Time-out: 5 min',
      'Not before: 2026-11-10 22:26:58 UTC (1794349618000)',
      'Location: norwaywest / rg-westno',
      'Machine: Standard_D4s_v5, scale set WestNO, fault domain 1',
      expect.stringMatching(/^→ https:\/\/portal/),
      '# C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    ]);
  });

  it('that succeeded says how long it took and what it wrote, and has no advice', () => {
    const notice = noticeFor();
    expect(notice).toMatchObject({
      tone: 'good',
      headline: 'Prepare hook succeeded: drain.sh took 2 s, for Reboot (restarted) on WestNO_0',
      description: 'draining ⏎ all is drained',
      speaker: 'The hook',
      remarks: [],
    });
  });

  it.each([
    [{ outcome: 'failed', exitCode: 3 }, 'failed: drain.sh exited with 3 after 2 s'],
    [
      { outcome: 'failed', exitCode: null, signal: 'SIGSEGV' },
      'failed: drain.sh was ended by SIGSEGV after 2 s',
    ],
    [
      { outcome: 'timed-out', exitCode: null, durationMs: 300_000 },
      'timed out: drain.sh was ended after 5 min',
    ],
    [{ outcome: 'interrupted', exitCode: null }, 'interrupted: drain.sh'],
    [{ outcome: 'unknown', exitCode: null, durationMs: null }, 'ended unseen: drain.sh'],
    [{ outcome: 'not-started', exitCode: null, durationMs: null }, 'not started: drain.sh'],
  ] as const)('that did not do its work is alarming, and blocks the approval: %j', (change, how) => {
    const notice = noticeFor(change);
    expect(notice.tone).toBe('alarming');
    expect(notice.headline).toBe(`Prepare hook ${how}, for Reboot (restarted) on WestNO_0`);
    expect(notice.remarks[0]).toContain('No rule that waits for hooks approves the event now');
  });

  it('that recovers says how the event ended, and where to look when it failed', () => {
    const notice = noticeFor({ phase: 'recover', outcome: 'failed', exitCode: 1, ending: 'canceled' });
    expect(notice.headline).toMatch(/^Recover hook failed: drain\.sh exited with 1/);
    expect(notice.facts).toContainEqual({ title: 'Event was', value: 'canceled' });
    expect(notice.facts.map(({ title }) => title)).not.toContain('Not before');
    expect(notice.remarks).toEqual(['It is not started again. See whether WestNO_0 is back at work.']);
  });

  it.each([
    ['unsafe', 'others may change its program or a folder above it'],
    ['missing', 'there is no such program'],
    ['no-time-left', 'there is no time left before the event'],
    ['EACCES', 'the system says EACCES'],
    ['constructor', 'the system says constructor'],
  ])('that was not started says why, and speaks of no second start: %s', (reason, because) => {
    const change = { ...running, outcome: 'not-started', startedAt: null, reason } as const;
    const { headline, remarks } = noticeFor(change);
    expect(headline).toBe(
      `Prepare hook not started: drain.sh, because ${because}, for Reboot (restarted) on WestNO_0`,
    );
    expect(remarks.join()).not.toContain('started again');
  });

  it('whose end nobody saw says that', () => {
    expect(noticeFor({ outcome: 'unknown' }).remarks[0]).toMatch(
      /^The agent was ended while it ran, and nobody saw its end\. It is not started again\./,
    );
  });

  it('that wrote much shows the end of it, and says that there was more', () => {
    const output = `${'line after line\n'.repeat(500)}cannot reach the balancer\n`;
    const { description, remarks } = noticeFor({ outcome: 'failed', output, outputTruncated: true });
    expect(description).toMatch(/^\(the end\) … .* ⏎ cannot reach the balancer$/);
    expect(description?.length).toBeLessThanOrEqual(1_000);
    expect(remarks.at(-1)).toBe('It wrote more than is kept of it.');
  });

  it.each([[3], [5_000]])('that wrote nothing but %i blank lines says no words for it', (count) => {
    const notice = noticeFor({ output: '\n \r\n\t\n'.repeat(count) });
    expect([notice.description, notice.speaker]).toEqual([null, undefined]);
  });

  it.each([
    ['C:\\hooks\\drain.cmd', 'drain.cmd'],
    ['/etc/hooks.d/Reboot/prepare', 'prepare'],
    ['/', 'a hook'],
  ])('at %s is called %s', (hook, name) => {
    expect(noticeFor({ ...running, hook }).headline).toContain(`started: ${name}, for`);
  });
});
