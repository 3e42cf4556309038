// What is kept of what a hook writes, and what a hook is told: bounded and harmless, whatever comes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { environmentOf, type HookNews, standardInputOf } from '../../src/core/hook-environment.ts';
import { keepOutput } from '../../src/core/hook-output.ts';
import { observerFrom } from '../../src/core/observer.ts';
import { eventOf, freeze } from '../support/documents.ts';

function kept(...pieces: readonly (string | Uint8Array)[]) {
  const output = keepOutput();
  for (const piece of pieces) output.add(typeof piece === 'string' ? Buffer.from(piece) : piece);
  return output.read();
}

describe('what a hook writes', () => {
  test('is kept whole up to 8 KiB, and beyond that at both ends, marked', () => {
    const text = Array.from({ length: 8192 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
    expect(kept(text.slice(0, 3000), text.slice(3000))).toEqual({ text, truncated: false });
    const longer = kept(text, 'THE END');
    expect(longer.truncated).toBe(true);
    expect(longer.text.startsWith(text.slice(0, 2048))).toBe(true);
    expect(longer.text).toContain('\n[… 7 bytes left out …]\n');
    expect(longer.text.endsWith(`${text.slice(2048 + 7)}THE END`)).toBe(true);
  });

  test('loses colours, control characters and what turns text round, and keeps lines and tabs', () => {
    expect(kept('a\u001b[31mred\u001b[0m\tb\r\nc\u0000\u0007d\u202ee\u009b').text).toBe('ared\tb\ncde');
    expect(kept('\u001b]0;title\u0007x').text).toBe('x');
  });

  test('is the same however it comes in pieces', () => {
    const bytes = fc.uint8Array({ maxLength: 20_000, size: 'max' });
    fc.assert(
      fc.property(bytes, fc.nat(20_000), (all, cut) => {
        expect(kept(all.subarray(0, cut), all.subarray(cut))).toEqual(kept(all));
      }),
      { numRuns: 50 },
    );
  });

  test('is well-formed text of bounded length, whatever the bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 20_000, size: 'max' }),
      fc.string({ unit: 'binary', maxLength: 9_000, size: 'max' }).map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(bytes, (all) => {
        const { text } = kept(all);
        expect(text.isWellFormed()).toBe(true);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8192 + 60);
        expect(text).not.toMatch(/(?![\n\t])\p{Cc}/u);
      }),
      { numRuns: 100 },
    );
    expect(kept(new Uint8Array(30_000).fill(0xff)).text).toBe('\ufffd\n[… 21808 bytes left out …]\n\ufffd');
  });
});

const news = (change: Partial<HookNews> = {}, wire: object = {}): HookNews => ({
  phase: 'prepare',
  event: eventOf({ ...freeze, ...wire }),
  observer: observerFrom({ compute: { name: 'WestNO_0', vmId: '02AABA' } }),
  affected: true,
  timeoutMs: 60_500,
  deadlineAt: Date.parse('2026-11-10T22:12:31.204Z'),
  ending: null,
  prepared: null,
  ...change,
});

describe('what a hook is told', () => {
  test('is the event in variables, and none of the agent’s own but a few', () => {
    const own = {
      PATH: '/bin',
      HOME: '/root',
      LANG: 'C',
      SECRET: 'x',
      NODE_OPTIONS: 'y',
      NOTIFY_SOCKET: 'z',
    };
    expect(environmentOf(news(), own)).toEqual({
      PATH: '/bin',
      HOME: '/root',
      LANG: 'C',
      SEB_PHASE: 'prepare',
      SEB_EVENT_ID: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      SEB_EVENT_TYPE: 'Freeze',
      SEB_EVENT_STATUS: 'Scheduled',
      SEB_EVENT_SOURCE: 'Platform',
      SEB_NOT_BEFORE: '2026-11-10T22:26:58Z',
      SEB_DURATION_SECONDS: '5',
      SEB_RESOURCES: 'WestNO_0 WestNO_1',
      SEB_DESCRIPTION: freeze['Description'],
      SEB_AFFECTED: 'yes',
      SEB_VM_NAME: 'WestNO_0',
      SEB_VM_ID: '02aaba',
      SEB_DEADLINE: '2026-11-10T22:12:31.204Z',
      SEB_TIMEOUT_SECONDS: '60',
    });
  });

  test('has a path also where the agent has none, and says of a recover how the event ended', () => {
    const told = environmentOf(news({ phase: 'recover', ending: 'canceled', prepared: 'failed' }), {});
    expect(told).toMatchObject({ SEB_ENDING: 'canceled', SEB_PREPARED: 'failed' });
    expect(told['PATH']).toMatch(/\/usr\/bin/);
    expect(told).not.toHaveProperty('HOME');
  });

  test('is empty where Azure said nothing', () => {
    const wire = {
      Description: null,
      EventSource: null,
      NotBefore: '',
      DurationInSeconds: -1,
      Resources: [],
    };
    const told = environmentOf(news({ affected: null }, wire), {});
    for (const name of [
      'DESCRIPTION',
      'EVENT_SOURCE',
      'NOT_BEFORE',
      'DURATION_SECONDS',
      'RESOURCES',
      'AFFECTED',
    ])
      expect(told[`SEB_${name}`]).toBe('');
  });

  test('has no control character, no half character and a bounded length, whatever Azure writes', () => {
    const hostile = fc.string({ unit: 'binary', maxLength: 6_000, size: 'max' });
    const lone = hostile.map((text) => `${text}\ud800\u0000\n${text}`);
    fc.assert(
      fc.property(lone, fc.array(lone, { maxLength: 20 }), (text, names) => {
        const wire = { EventType: text, Description: text, EventSource: text, Resources: names };
        const values = Object.values(environmentOf(news({}, wire), {}));
        for (const value of values) {
          expect(value.isWellFormed()).toBe(true);
          expect(value).not.toMatch(/\p{Cc}/u);
        }
        expect(values.join('').length).toBeLessThan(32_000);
      }),
      { numRuns: 50 },
    );
  });

  test('never takes one name of a VM for two, nor half of one for another', () => {
    const resources = [
      'a b',
      `c\n${'d'.repeat(20)}`,
      ...Array.from({ length: 3_000 }, (_, n) => `web-${n}-end`),
    ];
    const names = (environmentOf(news({}, { Resources: resources }), {})['SEB_RESOURCES'] ?? '').split(' ');
    expect(names.slice(0, 2)).toEqual(['a_b', `c_${'d'.repeat(20)}`]);
    expect(names.length).toBeGreaterThan(1_000);
    expect(names.slice(2).every((name) => /^web-\d+-end$/.test(name))).toBe(true);
  });

  test('is on standard input as one line of JSON, whole', () => {
    const text = standardInputOf(news({}, { Description: 'two\nlines' }));
    expect(text.endsWith('}\n')).toBe(true);
    expect(text.slice(0, -1)).not.toContain('\n');
    expect(JSON.parse(text)).toEqual(eventOf({ ...freeze, Description: 'two\nlines' }));
  });
});
