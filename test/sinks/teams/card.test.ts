// The cards for Teams: as the examples have them, valid by the official package, small enough, harmless whatever comes.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText, shortened } from '../../../src/core/notice/plain-text.ts';
import { type Notice, noticeOf } from '../../../src/core/notice.ts';
import { cardBody, shortestBody } from '../../../src/sinks/teams/card.ts';
import {
  faultsOf,
  localTimesIn,
  shownText,
  textsIn,
  withoutLocalTimes,
} from '../../support/adaptive-cards.ts';
import { hookOf } from '../../support/deed-records.ts';
import { hostileTexts, mangledRecords } from '../../support/mangled-records.ts';
import { announced, lives } from '../../support/notices.ts';
import { lastRecord } from '../../support/story.ts';

interface Card {
  readonly body: readonly { readonly type: string; readonly [name: string]: unknown }[];
  readonly actions?: readonly unknown[];
}

const envelopeOf = (body: Buffer) =>
  JSON.parse(body.toString()) as { readonly attachments: readonly [{ readonly content: Card }] };

const cardIn = (body: Buffer): Card => envelopeOf(body).attachments[0].content;

const scheduled = noticeOf(lastRecord(lives.scheduled));

const portal =
  'https://portal.azure.com/#resource/subscriptions/1111/resourceGroups/rg-westno/virtualMachineScaleSets/WestNO/virtualMachines/0/overview';

/** What all cards of the documented event have around what they say. */
const framed = (body: readonly unknown[]) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        msteams: { width: 'Full' },
        body,
        actions: [{ type: 'Action.OpenUrl', title: 'Open in Azure portal', url: portal }],
      },
    },
  ],
});

const headed = (text: string, color: string) => ({
  type: 'TextBlock',
  text,
  weight: 'Bolder',
  size: 'Medium',
  color,
  wrap: true,
});

const local = (time: string) => `{{DATE(${time},SHORT)}} {{TIME(${time})}}`;
const description =
  'Azure says: Virtual machine is being paused because of a memory-preserving Live Migration operation.';
const place = [
  { title: 'Location', value: 'norwaywest / rg-westno' },
  { title: 'Machine', value: 'Standard_D4s_v5, scale set WestNO, fault domain 1' },
  { title: 'Event ID', value: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123' },
];

it('says of the words of a hook that they are not those of Azure', () => {
  const texts = textsIn(cardIn(cardBody(noticeOf(hookOf()))));
  expect(texts).toContain('The hook says: draining ⏎ all is drained');
  expect(texts.join(' ')).not.toContain('Azure says');
});

describe('the card of an event that is', () => {
  it('scheduled has the state, the time of its reader, the facts, the words of Azure and the way to the portal', () => {
    expect(envelopeOf(cardBody(scheduled))).toEqual(
      framed([
        headed('Maintenance scheduled: WestNO_0', 'Warning'),
        {
          type: 'TextBlock',
          text: `Freeze (about 5 s), not before ${local('2026-11-10T22:26:58Z')} (your time)`,
          wrap: true,
          spacing: 'Small',
        },
        {
          type: 'FactSet',
          facts: [
            { title: 'VM', value: 'WestNO_0' },
            { title: 'Impact', value: 'Freeze: paused, about 5 s' },
            { title: 'Not before', value: '2026-11-10 22:26:58 UTC' },
            { title: 'Started by', value: 'Azure platform' },
            {
              title: 'Approval',
              value: 'Not approved: starts by itself at or after 2026-11-10 22:26:58 UTC, sooner if approved',
            },
            { title: 'Notice given', value: '15 min 26 s from first sight to the earliest start' },
            ...place,
          ],
        },
        { type: 'TextBlock', text: description, wrap: true },
      ]),
    );
  });

  it('over says so, when it started and finished, and that this is inferred', () => {
    expect(envelopeOf(cardBody(noticeOf(lastRecord(lives['completed, as it is gone']))))).toEqual(
      framed([
        headed('Maintenance completed: WestNO_0', 'Good'),
        {
          type: 'TextBlock',
          text: `Freeze (about 5 s), started ${local('2026-11-10T22:27:04Z')}, finished by ${local('2026-11-10T22:27:21Z')} (your time)`,
          wrap: true,
          spacing: 'Small',
        },
        {
          type: 'FactSet',
          facts: [
            { title: 'VM', value: 'WestNO_0' },
            { title: 'Impact', value: 'Freeze: paused, about 5 s' },
            { title: 'Started', value: '2026-11-10 22:27:04 UTC' },
            { title: 'Finished by', value: '2026-11-10 22:27:21 UTC (inferred)' },
            { title: 'In progress for', value: 'About 17 s' },
            { title: 'Started by', value: 'Azure platform' },
            { title: 'Notice given', value: '15 min 33 s from first sight to the start' },
            ...place,
          ],
        },
        { type: 'TextBlock', text: description, wrap: true },
        {
          type: 'TextBlock',
          text: 'Inferred: Azure removed the event after it had started, which is how it says that one is over.',
          wrap: true,
          isSubtle: true,
        },
      ]),
    );
  });

  it('scheduled shows each reader the day and time of their own zone', () => {
    const lead = String(cardIn(cardBody(scheduled)).body[1]?.['text']);
    const day = new Date(1794349618000).toLocaleDateString('en-US', {
      weekday: 'short',
      day: 'numeric',
      month: 'short',
      year: 'numeric',
    });
    const time = new Date(1794349618000).toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' });
    expect(shownText(lead)).toBe(`Freeze (about 5 s), not before ${day} ${time} (your time)`);
  });

  it('in no time that is known says its headline instead', () => {
    const notice = noticeOf(lastRecord([{ events: [announced({ NotBefore: '' })] }]));
    expect(cardIn(cardBody(notice)).body[1]).toMatchObject({ text: notice.headline });
  });

  it.each([
    ['announced', 'Warning'],
    ['alarming', 'Attention'],
    ['ongoing', 'Accent'],
    ['good', 'Good'],
    ['quiet', 'Default'],
  ] as const)('%s has the colour %s, and says its state in words whatever the colour', (tone, color) => {
    const [head] = cardIn(cardBody({ ...scheduled, tone })).body;
    expect(head).toMatchObject({ color, text: 'Maintenance scheduled: WestNO_0' });
  });

  it('not on a VM that the portal knows has no button', () => {
    expect(cardIn(cardBody({ ...scheduled, portalUrl: null }))).not.toHaveProperty('actions');
  });
});

describe('a card that would be too large', () => {
  const bodyBytesMax = 20_000;
  const last = (body: Buffer) => cardIn(body).body.at(-1)?.['text'];
  const facts = (count: number, value: string) =>
    Array.from({ length: count }, (_, at) => ({ title: `Fact ${at}`, value }));

  it('shows at most 2,000 characters of a description, with a mark where it ends', () => {
    const body = cardBody({ ...scheduled, description: 'x'.repeat(10_000) });
    expect(last(body)).toBe(`Azure says: ${'x'.repeat(1_987)}… (shortened)`);
  });

  it('shortens the description first, and says so', () => {
    const body = cardBody({
      ...scheduled,
      facts: facts(13, 'y'.repeat(1_200)),
      description: '日'.repeat(2_000),
    });
    expect(body.length).toBeLessThanOrEqual(bodyBytesMax);
    expect(last(body)).toBe('Shortened to fit into Teams: part of the description left out.');
    expect(textsIn(cardIn(body))).toContain(`Azure says: ${'日'.repeat(287)}… (shortened)`);
    expect(textsIn(cardIn(body))).toContain('Fact 12');
  });

  it('then leaves it out, and says so', () => {
    const body = cardBody({
      ...scheduled,
      facts: facts(15, 'y'.repeat(1_200)),
      description: '日'.repeat(2_000),
    });
    expect(last(body)).toBe('Shortened to fit into Teams: the description left out.');
    expect(textsIn(cardIn(body))).toContain('Fact 14');
  });

  it('then leaves out the last facts, as few as it must, but never the id of the event', () => {
    for (const count of [10, 20]) {
      const body = cardBody({ ...scheduled, facts: facts(count, 'y'.repeat(2_000)) });
      expect(last(body)).toBe('Shortened to fit into Teams: the description and some facts left out.');
      const texts = textsIn(cardIn(body));
      expect(texts).toContain('C7061BAC-AFDC-4513-B24B-AA5F13A16123');
      expect([texts.includes('Fact 8'), texts.includes('Fact 9')]).toEqual([true, false]);
      expect(body.length).toBeLessThanOrEqual(bodyBytesMax);
    }
  });

  it('does not speak of a description that there was not', () => {
    const body = cardBody({ ...scheduled, description: null, facts: facts(20, 'y'.repeat(1_900)) });
    expect(last(body)).toBe('Shortened to fit into Teams: some facts left out.');
  });

  it('ends as two lines, the first of which says all that matters most', () => {
    const body = cardBody({ ...scheduled, facts: facts(20, 'y'.repeat(9_000)) });
    expect(body).toEqual(shortestBody(scheduled));
    expect(cardIn(body)).toMatchObject({
      body: [
        headed(scheduled.headline, 'Warning'),
        { text: 'Shortened to fit into Teams: all but this line left out.' },
      ],
    });
    expect(faultsOf(cardIn(body))).toEqual([]);
  });

  it('is small as two lines, however long the first is', () => {
    const body = shortestBody({ ...scheduled, headline: '*日'.repeat(9_000) });
    expect(body.length).toBeLessThan(4_000);
    expect(cardIn(body).body[0]?.['text']).toMatch(/… \(shortened\)$/);
  });
});

/** A notice whose every text is the given one. */
const fullOf = (text: string): Notice => ({
  ...scheduled,
  headline: text,
  title: text,
  what: text,
  facts: [{ title: text, value: text, at: 1794349618000 }],
  description: text,
  remarks: [text],
  eventId: text,
});

/** What must hold for every card, whatever texts went into it. */
function expectHarmless(body: Buffer): void {
  const card = cardIn(body);
  expect(body.length).toBeLessThanOrEqual(20_000);
  expect(faultsOf(card)).toEqual([]);
  expect(card.body.filter(({ type, wrap }) => type === 'TextBlock' && wrap !== true)).toEqual([]);
  for (const text of textsIn(card)) {
    expect(withoutLocalTimes(text)).not.toMatch(/\{\{|<\/?[a-z]/i);
    expect(shownText(text)).not.toContain('{{');
    // What Markdown would read as markup stands behind a backslash.
    expect(text.replace(/\\[!-/:-@[-`{-~]/g, '')).not.toMatch(
      /[`*[\]~#\\]|(?<![\p{L}\p{N}_])_|_(?![\p{L}\p{N}_])/u,
    );
  }
}

describe('a card, whatever was said,', () => {
  it.each(Object.entries(lives))('is valid and harmless for an event that is %s', (_, life) => {
    expectHarmless(cardBody(noticeOf(lastRecord(life))));
  });

  it.each(hostileTexts.map((text) => [text.slice(0, 40), plainText(text)]))(
    'makes nothing of %j but text',
    (_, text) => {
      expectHarmless(cardBody(fullOf(text)));
      expectHarmless(shortestBody(fullOf(text)));
      const body = cardBody(fullOf(shortened(text, 200)));
      expect(textsIn(cardIn(body)).flatMap(localTimesIn)).toEqual(['2026-11-10T22:26:58Z']);
    },
  );

  it('is valid, harmless and small enough for any record', () => {
    fc.assert(
      fc.property(mangledRecords(), (record) => {
        const notice = noticeOf(record);
        expectHarmless(cardBody(notice));
        const known = notice.facts.flatMap(({ at }) => (at === undefined ? [] : [at]));
        const shown = textsIn(cardIn(cardBody(notice)))
          .flatMap(localTimesIn)
          .map((time) => Date.parse(time));
        const allowed = new Set(known.map((at) => Math.floor(at / 1000) * 1000));
        expect(shown.filter((at) => !allowed.has(at))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the judge of cards', () => {
  const card = (body: object, more: object = {}) => ({
    type: 'AdaptiveCard',
    version: '1.4',
    body: [body],
    ...more,
  });

  it.each([
    ['a property that there is not', card({ type: 'TextBlock', text: 'x', colour: 'Good' })],
    ['a property of a later version', card({ type: 'TextBlock', text: 'x', style: 'heading' })],
    ['a value that there is not', card({ type: 'TextBlock', text: 'x', color: 'Purple' })],
    ['an element that there is not', card({ type: 'Text', text: 'x' })],
    ['an element of a later version', card({ type: 'Table' })],
    ['a fact with more to it', card({ type: 'FactSet', facts: [{ title: 'a', value: 'b', bold: true }] })],
    [
      'an action without a URL',
      card({ type: 'TextBlock', text: 'x' }, { actions: [{ type: 'Action.OpenUrl' }] }),
    ],
    ['another version', card({ type: 'TextBlock', text: 'x' }, { version: '1.5' })],
  ])('finds fault with %s', (_, bad) => {
    expect(faultsOf(bad)).not.toEqual([]);
  });

  it('finds none with a good card', () => {
    expect(faultsOf(card({ type: 'TextBlock', text: 'x', wrap: true }))).toEqual([]);
  });
});
