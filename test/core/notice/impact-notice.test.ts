// What impact records say to people: how long a VM was away, between which bounds, and whether it was moved.
import { describe, expect, it } from 'vitest';
import { boundsText } from '../../../src/core/notice/time-text.ts';
import { noticeOf } from '../../../src/core/notice.ts';
import { impactOf, rebootImpact } from '../../support/deed-records.ts';
import { linesOf } from '../../support/notices.ts';

const noticeFor = (change: Parameters<typeof impactOf>[0] = {}) => noticeOf(impactOf(change));
const movedTo = (
  temporaryDisk: 'kept' | 'gone' | 'unknown',
  before: string | null,
  after: string | null,
) => ({
  moved: { temporaryDisk, faultDomain: { before, after } },
});

describe('the notice of an impact', () => {
  it('says how long the pause was, beside what was announced', () => {
    expect(linesOf(noticeFor())).toEqual([
      'deed, good',
      'Paused 2.7 to 3.0 s: WestNO_0 during Freeze; 5 s were announced',
      'Paused 2.7 to 3.0 s: WestNO_0',
      'Paused 2.7 to 3.0 s',
      'VM: WestNO_0 →',
      'Event: Freeze: paused, about 5 s',
      'Measured: 2.7 to 3.0 s',
      'Announced: 5 s',
      'Watched from: 2026-11-10 22:11:31 UTC (1794348691204)',
      'Watched to: 2026-11-10 22:12:31 UTC (1794348751204)',
      'Location: norwaywest / rg-westno',
      'Machine: Standard_D4s_v5, scale set WestNO, fault domain 1',
      '! The true length lies between the two bounds, which the agent measured from inside the VM.',
      expect.stringMatching(/^→ https:\/\/portal/),
      '# C7061BAC-AFDC-4513-B24B-AA5F13A16123',
    ]);
  });

  it('says how long a reboot took, and from when to when nobody looked', () => {
    const notice = noticeOf(rebootImpact());
    expect(notice.headline).toBe(
      'Rebooted, away 48 to 61 s: WestNO_0 during Reboot; how long was not announced',
    );
    expect(linesOf(notice)).toContain('Last seen before: 2026-11-10 22:11:31 UTC (1794348691204)');
    expect(linesOf(notice)).toContain('First seen after: 2026-11-10 22:12:31 UTC (1794348751204)');
  });

  it.each([
    ['a new temporary disk', movedTo('gone', '1', '1'), 'To another host: its temporary disk is a new one'],
    ['another fault domain', movedTo('kept', '1', '0'), 'To another host: fault domain 1 became 0'],
  ])('says by %s that the VM was moved to another host', (_, change, moved) => {
    const notice = noticeOf(rebootImpact(change));
    expect(notice.headline).toContain('during Reboot, moved to another host;');
    expect(notice.facts).toContainEqual({ title: 'Moved', value: moved });
  });

  it.each([
    ['the same disk and domain', movedTo('kept', '1', '1')],
    ['a disk and domains that are not known', movedTo('unknown', null, '1')],
  ])('claims no move with %s', (_, change) => {
    expect(noticeOf(rebootImpact(change)).headline).not.toContain('moved');
  });

  it('draws the eye when it took longer than was announced, for sure', () => {
    const tones = [4_900, 5_000, 5_001].map(
      (lowerMs) => noticeFor({ measured: { lowerMs, upperMs: 9_000 } }).tone,
    );
    expect(tones).toEqual(['good', 'good', 'announced']);
  });

  it('says that nothing was felt only where the agent watched throughout', () => {
    const notice = noticeFor({ kind: 'none', measured: { lowerMs: 0, upperMs: 1_150 }, pauses: [] });
    expect(notice.headline).toBe('No impact felt: WestNO_0 during Freeze; 5 s were announced');
    expect(notice.facts).toContainEqual({ title: 'Measured', value: 'up to 1.2 s' });
    expect(notice.remarks[0]).toContain('watched throughout');
  });

  it('claims nothing where the agent was away for another reason', () => {
    const notice = noticeFor({ kind: 'unknown', measured: null, pauses: [] });
    expect([notice.tone, notice.headline]).toEqual([
      'quiet',
      'Impact not known: WestNO_0 during Freeze; 5 s were announced',
    ]);
    expect(notice.remarks).toEqual([
      'The agent on WestNO_0 was away for another reason, so nobody measured it.',
    ]);
  });

  it('lists several pauses, and counts those that there is no room for', () => {
    const pauses = Array.from({ length: 8 }, (_, index) => ({
      lowerMs: 1_000 * index,
      upperMs: 1_000 * index + 500,
      at: '2026-11-10T22:12:00.000Z',
    }));
    expect(noticeFor({ pauses }).facts).toContainEqual({
      title: 'Pauses',
      value: 'up to 0.5 s; 1.0 to 1.5 s; 2.0 to 2.5 s; 3.0 to 3.5 s; 4.0 to 4.5 s; 3 more',
    });
  });
});

describe('bounds in words', () => {
  it.each([
    [2_702, 2_998, '2.7 to 3.0 s'],
    [3_000, 3_000, '3.0 s'],
    [20, 980, 'up to 1.0 s'],
    [9_950, 10_000, '9.9 to 10.0 s'],
    [9_950, 10_010, '9 to 11 s'],
    [48_600, 60_100, '48 to 61 s'],
    [200, 59_000, 'up to 59 s'],
    [61_900, 125_100, '1 min 1 s to 2 min 6 s'],
    [3_600_000, 3_661_000, '1 h to 1 h 2 min'],
    [180_000, 180_000, '3 min'],
  ])('of %i and %i ms are never narrower: %s', (lowerMs, upperMs, text) => {
    expect(boundsText({ lowerMs, upperMs })).toBe(text);
  });
});
