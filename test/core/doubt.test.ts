// When a missing event is not believed to be gone: after a restart, after an incarnation that went down,
// and while documents could not be read in full.
import { describe, expect, test } from 'vitest';
import { markApproved } from '../../src/core/watch.ts';
import { freeze, freezeStarted } from '../support/documents.ts';
import { type Step, said, storyBeginsAt, tell } from '../support/story.ts';

const scheduled: Step = { events: [freeze] };
const started: Step = { events: [freezeStarted] };
const gone: Step = { events: [] };
// An entry without an EventId may be any event.
const torn: Step = { events: [{ EventType: 'Freeze' }] };
const dueMs = Date.parse('2026-11-10T22:26:58Z') - storyBeginsAt;

const ran = 'completed (removed-after-started)';
const unknown = 'completed (start-not-observed)';
const early = 'canceled (removed-before-not-before)';

describe('after a restart', () => {
  test('the first document without the event is not believed, the second is', () => {
    expect(said([started, { ...gone, restart: true }, gone, gone])).toEqual([['started'], [], [ran], []]);
  });

  test('an event that is back in the second document was never gone', () => {
    const steps = [scheduled, { ...gone, restart: true }, scheduled, scheduled, gone];
    expect(said(steps)).toEqual([['scheduled'], [], [], [], [early]]);
  });

  test('an event that is back, but begun, has started', () => {
    expect(said([scheduled, { ...gone, restart: true }, started])).toEqual([['scheduled'], [], ['started']]);
  });

  test('what the second document knows does not change what the first one knew', () => {
    const missed: Step = { ...gone, restart: true };
    expect(said([scheduled, missed, { ...gone, afterMs: dueMs }]).at(-1)).toEqual([early]);
    expect(said([scheduled, { ...missed, pollGapMs: null }, gone]).at(-1)).toEqual([unknown]);
    expect(said([scheduled, { ...missed, afterMs: dueMs }, gone]).at(-1)).toEqual([unknown]);
  });

  test('a new event is believed at once', () => {
    expect(said([{ ...scheduled, restart: true }])).toEqual([['scheduled']]);
  });

  test('only what is missing is doubted', () => {
    const other = { ...freeze, EventId: 'other' };
    const steps: Step[] = [
      { events: [freeze, other] },
      { events: [{ ...other, EventStatus: 'Started' }], restart: true },
      { events: [] },
    ];
    expect(said(steps)).toEqual([['scheduled', 'scheduled'], ['started'], [ran, early]]);
  });
});

describe('a restart in the middle of the doubt', () => {
  test('asks for a second document of the new run', () => {
    const steps = [started, { ...gone, restart: true }, { ...gone, restart: true }, gone, gone];
    expect(said(steps)).toEqual([['started'], [], [], [ran], []]);
  });

  test('remembers that the VM was booted in between', () => {
    const steps = [scheduled, { ...gone, reboot: true }, { ...gone, restart: true }, gone];
    expect(said(steps)).toEqual([['scheduled'], [], [], [unknown]]);
  });

  test('remembers the gap that there was', () => {
    const steps = [scheduled, { ...gone, restart: true, afterMs: 30_000 }, { ...gone, restart: true }, gone];
    expect(said(steps)).toEqual([['scheduled'], [], [], [unknown]]);
  });

  test('remembers when the event was first missed', () => {
    const [, , , sure] = tell([
      scheduled,
      { ...gone, restart: true },
      { ...gone, restart: true, afterMs: dueMs },
      gone,
    ]);
    expect(sure?.observations).toMatchObject([{ kind: 'canceled', at: storyBeginsAt + 2000 }]);
  });

  test('by a boot of the VM tells that the event may have run', () => {
    expect(said([scheduled, { ...gone, restart: true }, { ...gone, reboot: true }, gone]).at(-1)).toEqual([
      unknown,
    ]);
  });

  test('still finds the event there if it comes back', () => {
    const steps = [started, { ...gone, restart: true }, { ...started, restart: true }, gone];
    expect(said(steps)).toEqual([['started'], [], [], [ran]]);
  });
});

describe('after the incarnation went down', () => {
  const at = (incarnation: unknown, step: Step): Step => ({ ...step, incarnation });

  test('the first document without the event is not believed, the second is', () => {
    expect(said([at(7, started), at(1, gone), at(1, gone), at(1, gone)])).toEqual([
      ['started'],
      [],
      [ran],
      [],
    ]);
  });

  test('the second is believed even if the incarnation went down again', () => {
    expect(said([at(7, started), at(5, gone), at(4, gone)])).toEqual([['started'], [], [ran]]);
  });

  test('an event that is back was never gone', () => {
    expect(said([at(7, scheduled), at(1, gone), at(2, scheduled)])).toEqual([['scheduled'], [], []]);
  });

  test('an event that is still there, or changed, is as it says', () => {
    expect(said([at(7, scheduled), at(1, scheduled), at(1, started)])).toEqual([
      ['scheduled'],
      [],
      ['started'],
    ]);
    expect(said([at(7, scheduled), at(1, started)])).toEqual([['scheduled'], ['started']]);
  });

  test.each([
    ['stays', 7, 7],
    ['goes up', 7, 8],
    ['skips some', 2, 4],
    ['goes up by one digit', 9, 10],
    ['is unknown before', null, 1],
    ['is unknown now', 7, null],
    ['is blank now', 7, ' '],
    ['is blank before', ' ', -1],
    ['is no number', 'abc123', 'abc122'],
  ])('but not when it %s', (_how, before, now) => {
    expect(said([at(before, started), at(now, gone)])).toEqual([['started'], [ran]]);
  });

  test('an approval that becomes known during the doubt counts', () => {
    const doubting = tell([at(7, scheduled), at(1, gone)]).at(-1)?.watch;
    if (doubting === undefined) throw new Error('there is no story');
    const approved = markApproved(doubting, 'C7061BAC-AFDC-4513-B24B-AA5F13A16123');
    expect(said([at(1, gone)], approved)).toEqual([[unknown]]);
    expect(said([at(1, gone)], doubting)).toEqual([[early]]);
  });
});

describe('a document that could not be read in full', () => {
  test('makes nothing disappear', () => {
    expect(said([scheduled, torn, torn, scheduled, started, torn, gone])).toEqual([
      ['scheduled'],
      [],
      [],
      [],
      ['started'],
      [],
      [ran],
    ]);
  });

  test('leaves open what happened meanwhile: a start may have been missed', () => {
    expect(said([scheduled, torn, gone]).at(-1)).toEqual([unknown]);
    expect(said([scheduled, torn, scheduled, gone]).at(-1)).toEqual([early]);
  });

  test('says what it can about the others', () => {
    const other = { ...freeze, EventId: 'other' };
    expect(said([scheduled, { events: [...torn.events, other] }, gone]).slice(1)).toEqual([
      ['scheduled'],
      [unknown, early],
    ]);
  });

  test('is not the first good document of a run', () => {
    const steps = [started, { ...torn, restart: true }, torn, gone, gone];
    expect(said(steps)).toEqual([['started'], [], [], [], [ran]]);
  });

  test('is not the document that follows an incarnation which went down', () => {
    const steps = [
      { ...started, incarnation: 7 },
      { ...torn, incarnation: 1 },
      { ...gone, incarnation: 1 },
      { ...gone, incarnation: 1 },
    ];
    expect(said(steps)).toEqual([['started'], [], [], [ran]]);
  });

  test('does not end a doubt, and does not confirm it', () => {
    const steps = [started, { ...gone, restart: true }, torn, gone];
    expect(said(steps)).toEqual([['started'], [], [], [ran]]);
    const anew = [started, { ...gone, restart: true }, { ...torn, restart: true }, gone, gone];
    expect(said(anew)).toEqual([['started'], [], [], [], [ran]]);
  });

  test('settles no doubt for good: a complete one after it does', () => {
    const [, , , settled] = tell([started, { ...torn, restart: true }, started, started]);
    expect(settled?.watch).not.toHaveProperty('doubtful');
    expect(JSON.stringify(settled?.watch)).not.toContain('hidden');
  });
});
