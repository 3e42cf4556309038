// Templates: what they fill in, what they refuse, and that no record can break out of them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleDeeds, sampleRecords } from '../../../src/core/sample-records.ts';
import { compileTemplate } from '../../../src/sinks/webhook/payload-template.ts';
import { pageText } from '../../support/markdown.ts';
import { sampleAgentRecord, sampleEvent, sampleRecord } from '../../support/records.ts';

const event = sampleEvent({ eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123' });
const record = sampleRecord(event);

const secrets = { key: 'k3y', 'other-key': '0ther' };

/** What a template makes of a record, parsed; null when it cannot be filled in. */
function filled(tree: unknown, given = record): unknown {
  const compiled = compileTemplate(tree);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const body = compiled.template.fill({ record: given, secrets });
  return body === null ? null : JSON.parse(body.toString());
}

/** What is wrong with a template. */
function faultsOf(tree: unknown) {
  const compiled = compileTemplate(tree);
  return compiled.ok ? [] : compiled.faults;
}

describe('a placeholder', () => {
  it.each([
    ['{{ data.event.eventType }}', 'Freeze'],
    ['{{data.event.durationSeconds}}', 5],
    ['{{ data.affected }}', true],
    ['{{ data.event.resources }}', ['WestNO_0', 'WestNO_1']],
    ['{{ data.event.resources.1 }}', 'WestNO_1'],
    ['{{ data.event.resources[0] }}', 'WestNO_0'],
    ['{{ data.document }}', record.data.document],
    ['{{ . }}', record],
    ['{{ data.observer.zone }}', null],
    ['{{ data.no.such.thing }}', null],
    ['{{ data.event.resources.7 }}', null],
    ['{{ data.event.eventType.0 }}', null],
    ['{{ constructor.name }}', null],
    ['{{ __proto__ }}', null],
  ])('that stands alone keeps what it finds: %s', (text, expected) => {
    expect(filled(text)).toEqual(expected);
  });

  it.each([
    ['{{ data.event.eventType }} on {{ data.observer.vmName }}', 'Freeze on WestNO_0'],
    ['{{ data.event.durationSeconds }} s', '5 s'],
    ['VMs: {{ data.event.resources }}', 'VMs: WestNO_0, WestNO_1'],
    ['zone "{{ data.observer.zone }}"', 'zone ""'],
    [' {{ data.no.such.thing }}', ' '],
    ['{{ data.transition }}{{ data.transition }}', 'scheduledscheduled'],
    ['in {{ data.document }}', 'in {"incarnation":"2","apiVersion":"2020-07-01"}'],
    ['}} a { b } {c: {d: 1}}', '}} a { b } {c: {d: 1}}'],
    ['{{{ data.transition }}}', '{scheduled}'],
  ])('in the middle of a text becomes text: %s', (text, expected) => {
    expect(filled(text)).toBe(expected);
  });
});

describe('a filter', () => {
  it.each([
    ['{{ data.event.eventType | upper }}', 'FREEZE'],
    ['{{ data.event.eventType | lower }}', 'freeze'],
    ['{{ data.event.resources | json }}', '["WestNO_0","WestNO_1"]'],
    ['{{ data.observer.zone | json }}', 'null'],
    ['{{ data.observer.zone | default:none }}', 'none'],
    ['{{ data.observer.zone | default:"a | b }} \\"c\\"" }}', 'a | b }} "c"'],
    ['{{ data.observer.zone | default:0 }}', 0],
    ['{{ data.observer.zone | default:"0" }}', '0'],
    ['{{ data.observer.zone | default:false }}', false],
    ['{{ data.no.such.thing | default:5 | duration }}', '5 s'],
    ['{{ data.affected | default:x }}', true],
    ['{{ data.observer.zone | upper }}', null],
    ['{{ data.event.notBefore | date:iso }}', '2026-11-10T22:26:58.000Z'],
    ['{{ data.event.notBefore | date:unix }}', 1_794_349_618],
    ['{{ data.event.notBefore | date:utc }}', '2026-11-10 22:26:58 UTC'],
    ['{{ data.event.notBefore | date:Europe/Oslo }}', '2026-11-10 23:26:58 GMT+1'],
    ['{{ data.event.notBefore | date:America/St_Johns }}', '2026-11-10 18:56:58 GMT-3:30'],
    ['{{ data.noticeSeconds | duration }}', '15 min 26 s'],
    ['{{ data.event.eventId | truncate:4 }}', 'C70…'],
    ['{{ data.event.eventType | truncate:6 }}', 'Freeze'],
    ['{{ data.event.eventType|upper|truncate : 3 | lower}}', 'fr…'],
  ])('gives what its name says: %s', (text, expected) => {
    expect(filled(text)).toEqual(expected);
  });

  it('writes a local time in the zone of the machine, and says which', () => {
    const zone = process.env['TZ'];
    process.env['TZ'] = 'Asia/Kolkata';
    const text = filled('{{ data.event.notBefore | date:local }}');
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
    expect(text).toBe('2026-11-11 03:56:58 GMT+5:30');
  });

  it('writes a time that has passed as a negative length', () => {
    const late = { ...record, data: { ...record.data, noticeSeconds: -90 } };
    expect(filled('{{ data.noticeSeconds | duration }}', late)).toBe('-1 min 30 s');
  });

  it('takes an empty text for a missing one', () => {
    expect(filled('{{ data.event.description | default:none }}', sampleRecord({ description: '' }))).toBe(
      'none',
    );
  });

  it('never cuts a character in half', () => {
    const given = sampleRecord({ description: '🚀🚀🚀' });
    expect(filled('{{ data.event.description | truncate:2 }}', given)).toBe('🚀…');
  });

  it('makes what Slack reads as control into text', () => {
    const given = sampleRecord({ description: '<!channel> & <https://x|y>' });
    expect(filled('{{ data.event.description | slackEscape }}', given)).toBe(
      '&lt;!channel&gt; &amp; &lt;https://x|y&gt;',
    );
  });

  it('makes what Markdown reads as form into text', () => {
    const given = sampleRecord({ description: '*a* _b_ [c](d) `e` <f> #g' });
    expect(filled('{{ data.event.description | mdEscape }}', given)).toBe(
      String.raw`\*a\* \_b\_ \[c\]\(d\) \`e\` \<f\> \#g`,
    );
  });

  it.each(['{{ data.transition | date:iso }}', 'at {{ data.affected | date:utc }}', '{{ id | duration }}'])(
    'that can do nothing with what it finds gives no body: %s',
    (text) => {
      expect(filled({ a: [text] })).toBeNull();
    },
  );

  it('tells where it can do nothing', () => {
    const compiled = compileTemplate({ a: ['x', '{{ id | duration }}'] });
    expect(compiled.ok && compiled.template.faultsWith({ record, secrets })).toEqual([
      { path: ['a', 1], message: 'The filter "duration" can do nothing with what stands there' },
    ]);
  });
});

describe('a template', () => {
  it('is a tree whose keys, numbers and structure stay as they are', () => {
    const tree = {
      '{{ id }}': '{{ data.transition }}',
      list: [1, true, null, 'x', [], {}],
      deep: { deeper: { type: '{{ data.event.eventType }}' } },
    };
    expect(filled(tree)).toEqual({
      '{{ id }}': 'scheduled',
      list: [1, true, null, 'x', [], {}],
      deep: { deeper: { type: 'Freeze' } },
    });
  });

  it('keeps a key that an assignment would lose', () => {
    const tree = JSON.parse('{"__proto__": "{{ data.transition }}"}');
    expect(JSON.stringify(filled(tree))).toBe('{"__proto__":"scheduled"}');
  });

  it('can be filled in with every kind of record', () => {
    const tree = { a: '{{ data.event.notBefore | date:utc }}', b: '{{ data.noticeSeconds | duration }}!' };
    for (const given of [...sampleRecords(), ...sampleDeeds(), sampleAgentRecord()]) {
      expect(filled(tree, given as typeof record)).not.toBeNull();
    }
  });

  it('lets no text of a record change anything but the texts it was put into', () => {
    const tree = {
      alone: '{{ data.event.description }}',
      within: 'it says "{{ data.event.description }}"',
      filtered: '{{ data.event.description | upper | truncate:20 | slackEscape | mdEscape }}',
      fixed: 1,
    };
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (description) => {
        const given = { ...record, data: { ...record.data, event: { ...record.data.event, description } } };
        const body = filled(tree, given) as Record<string, unknown>;
        expect(Object.keys(body)).toEqual(Object.keys(tree));
        expect(body).toMatchObject({ alone: description, within: `it says "${description}"`, fixed: 1 });
      }),
    );
  });

  it('fills in no placeholder that stands in a record', () => {
    const given = sampleRecord({ description: '{{ id }}' });
    expect(filled({ text: 'x {{ data.event.description }}' }, given)).toEqual({ text: 'x {{ id }}' });
  });

  it('makes no body beyond a megabyte', () => {
    const given = sampleRecord({ description: 'x'.repeat(10_000) });
    const tree = Array.from({ length: 110 }, () => '{{ data.event.description }}');
    expect(filled(tree.slice(0, 100), given)).toHaveLength(100);
    expect(filled(tree, given)).toBeNull();
  });
});

describe('a secret', () => {
  it('stands where the template names it', () => {
    const tree = { a: '{{ secrets.key }}', b: 'key {{ secrets.other-key | upper }}' };
    expect(filled(tree)).toEqual({ a: 'k3y', b: 'key 0THER' });
  });

  it('stands nowhere else, not in the record as a whole either', () => {
    expect(JSON.stringify(filled({ all: '{{ . }}', data: '{{ data }}' }))).not.toContain('k3y');
  });

  it.each(['{{ secrets.kee }}', '{{ secrets }}', 'x {{ secrets.constructor }}', '{{ secrets.key.0 }}'])(
    'that is not there is a mistake: %s',
    (text) => {
      expect(filled({ a: text })).toBeNull();
    },
  );
});

describe('a template is refused', () => {
  it.each([
    '{{',
    '{{ }}',
    '{{ a',
    '{{ a b }}',
    '{{ a..b }}',
    '{{ .a }}',
    '{{ a. }}',
    '{{ a | }}',
    '{{ a || upper }}',
    '{{ | upper }}',
    '{{ a | default:"x }}',
    '{{ a | default:x" }}',
    '{{ a | default: }}',
    '{{ a | 1 }}',
    '{{ {{ a }} }}',
    '{{ a[x] }}',
    'fine {{ id }} and {{ not',
  ])('with its path when a placeholder is malformed: %s', (text) => {
    expect(faultsOf({ a: [0, { b: text }] })).toEqual([
      { path: ['a', 1, 'b'], message: 'Expected {{ path | filter:argument }} where there is a {{' },
    ]);
  });

  it.each([
    ['{{ id | uper }}', /^There is no filter "uper"; there are json, upper, /],
    ['{{ id | constructor }}', /^There is no filter "constructor"/],
    ['{{ id | upper:1 }}', /^This filter takes no argument/],
    ['{{ id | default }}', /^Expected a value/],
    ['{{ id | truncate }}', /^Expected a number of characters/],
    ['{{ id | truncate:0 }}', /^Expected a number of characters/],
    ['{{ id | truncate:1.5 }}', /^Expected a number of characters/],
    ['{{ id | truncate:x }}', /^Expected a number of characters/],
    ['{{ time | date }}', /^Expected iso, unix, utc, local or a time zone/],
    ['{{ time | date:Europe/Atlantis }}', /^Expected iso, unix, utc, local or a time zone/],
    ['{{ time | date:5 }}', /^Expected iso, unix, utc, local or a time zone/],
  ])('with a sentence when a filter is wrong: %s', (text, sentence) => {
    expect(faultsOf(text)).toEqual([{ path: [], message: expect.stringMatching(sentence) }]);
  });

  it('when JSON cannot say what stands in it', () => {
    expect(faultsOf({ a: Number.NaN })).toEqual([{ path: ['a'], message: 'JSON has no such number' }]);
  });

  it('when it is too deep, or holds itself', () => {
    const loop: unknown[] = [];
    loop.push(loop);
    expect(faultsOf(loop)).toEqual([{ path: Array(17).fill(0), message: 'Deeper than 16 levels' }]);
  });

  it('when it is too large, or holds the same again and again', () => {
    const wide = Array.from({ length: 10 }, (_, index) => index);
    const laughs = Array.from({ length: 10 }).reduce<unknown[]>((list) => Array(10).fill(list), wide);
    expect(faultsOf(laughs)).toEqual([{ path: [], message: 'More than 1000 values and placeholders' }]);
  });

  it('when it holds too many placeholders, in however few texts', () => {
    expect(faultsOf('{{ id }}'.repeat(999))).toEqual([]);
    expect(faultsOf(['{{ id }}'.repeat(600), '{{ id }}'.repeat(600)])).toEqual([
      { path: [], message: 'More than 1000 values and placeholders' },
    ]);
  });
});

describe('docs/templates.md', () => {
  const rows = [...pageText('docs/templates.md').matchAll(/^\| `(.*\{\{.*?)` \| `(.*?)` \|/gm)].map(
    ([, text = '', body = '']) => [text.replaceAll('\\|', '|'), body] as const,
  );
  const [scheduled] = sampleRecords();

  it.each(rows)('is right about %s', (text, body) => {
    const compiled = compileTemplate(text);
    expect(
      compiled.ok && scheduled && compiled.template.fill({ record: scheduled, secrets })?.toString(),
    ).toBe(body);
  });

  it('shows every filter there is', () => {
    const [fault] = faultsOf('{{ id | nosuch }}');
    const names = fault?.message.replace(/^.*there are /, '').split(', ') ?? [];
    expect(names).toHaveLength(9);
    expect(names.filter((name) => !rows.some(([text]) => text.includes(`| ${name}`)))).toEqual([]);
  });
});
