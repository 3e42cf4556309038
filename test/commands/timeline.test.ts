// `seb timeline`: one event on a sheet or as JSON, with the keys that docs/timeline.md defines.
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { emptyStream } from '../../src/audit/store.ts';
import { timeline } from '../../src/commands/timeline.ts';
import { runCommandLine } from '../support/command-line.ts';
import { pageText } from '../support/markdown.ts';
import { asHubEvents, eventIdOf, freeze, liveMigration, saying, synthesisAt } from '../support/synthetic.ts';
import { approving, feeling } from '../support/synthetic-deeds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { stage } from '../support/terminal.ts';
import { makeVersion2 } from '../support/version-1-trail.ts';

const [eventId, other] = [0, 1].map((event) => eventIdOf(event).toLowerCase());

/** A trail in which every list of a timeline has something in it. */
async function someTrail(directory: string): Promise<string> {
  const path = join(directory, 'trail.db');
  const elsewhere = freeze(1, { resources: ['web-2'], eventStatus: 'Started' });
  const records = [
    ...[0, 2].flatMap((vm) => liveMigration(0, vm)),
    approving({}, { after: 60_000, sequence: 9 }),
    feeling({}, { after: 961_000, sequence: 10 }),
    saying({ kind: 'started', event: elsewhere, vm: 2, after: 930_000, sequence: 9 }),
  ];
  const settledAt = new Date(synthesisAt + 901_000).toISOString();
  const notified = { kind: 'notified', sink: 'ops', type: 't', id: 'n', attempts: 2, settledAt } as const;
  await using trail = openSqliteTrail(path, { now: () => synthesisAt + 901_000 });
  await trail.append('ns/hub/0/epoch', emptyStream, asHubEvents(records), [
    { ...notified, facts: [`${eventId}_started`], outcome: 'delivered', reason: null },
  ]);
  return path;
}

test('a terminal gets a sentence, the figures with how sure each is, the VMs and the story', async () => {
  using directory = temporaryDirectory();
  const { context, stdout } = stage({ trail: await someTrail(directory.path), utc: true }, 160);
  expect(await timeline.run({ ...context, operands: [eventIdOf(0)] })).toBe(0);
  const lines = stripVTControlCharacters(stdout.text).split('\n');
  expect(lines[0]).toBe(`Freeze of web-0 and web-1, by Platform: ~completed. ${eventId}`);
  const shown = (start: string) => lines.find((line) => line.startsWith(start))?.replaceAll(/ {2,}/g, ' | ');
  expect(shown('FIGURE')).toBe('FIGURE | VALUE | CONFIDENCE | BECAUSE');
  expect(shown('first seen')).toBe('first seen | 2026-11-10 22:00:00Z by web-0 | measured');
  expect(shown('approved')).toContain('agent-post by web-0 at 2026-11-10 22:01:00Z | said');
  expect(shown('outcome')).toContain('~completed | inferred');
  expect(shown('missing')).toContain('~web-1 (no-agent) | inferred');
  expect(shown('notices')).toBe('notices | 1 ops delivered | said');
  expect(shown('web-0 ')).toBe('web-0 | 0 | by record | itself | pause 6 s to 7 s');
  expect(lines.at(-2)).toMatch(/^2026-11-10 22:16:01Z {2}web-0 {2}felt a pause of 6 s to 7 s$/);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(160);
});

test('a pipe gets the same with tabs, and text from outside cannot steer a terminal', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  {
    await using trail = openSqliteTrail(path);
    const event = freeze(0, { eventType: 'Fr\u001b[31meeze', resources: ['web\n-0'] });
    await trail.append('ns/hub/0/epoch', emptyStream, asHubEvents([saying({ kind: 'scheduled', event })]));
  }
  const { exitCode, stdout } = await runCommandLine(['timeline', String(eventId), '--trail', path, '--utc']);
  expect(exitCode).toBe(0);
  expect(stdout.split('\n')[0]).toBe(`Fr [31meeze of web -0, by Platform: ~expired. ${eventId}`);
  expect(stdout).toContain('first seen\t2026-11-10 22:00:00Z by web-0\tmeasured\t\n');
  expect(stdout).not.toContain('\u001b');
});

type Json = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every key of a timeline with the keys it stands under; what every figure has is left out. */
function keysIn(value: unknown, under = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => keysIn(each, under));
  if (!isObject(value)) return [];
  const isFigure = 'confidence' in value && 'because' in value;
  if (isFigure) return keysIn(value['value'], under);
  return Object.entries(value).flatMap(([name, each]) => {
    const key = under === '' ? name : `${under}.${name}`;
    return [key, ...keysIn(each, key)];
  });
}

test('every key of the JSON has a row in docs/timeline.md, and every row is a key', async () => {
  using directory = temporaryDirectory();
  const path = await someTrail(directory.path);
  const { stdout } = await runCommandLine(['timeline', eventIdOf(0), '--trail', path, '-o', 'json']);
  const printed = JSON.parse(stdout) as Json;
  expect(printed['faultDomainOverlap']).toMatchObject({ value: [{ eventId: other }] });
  expect([...new Set(keysIn(printed))].sort()).toEqual(keysOfPage().sort());
});

/** The first cells of the tables that define keys. */
const keysOfPage = (): string[] =>
  [...pageText('docs/timeline.md').matchAll(/^\| Key \|.*\n\| ---.*\n((?:\|.*\n)+)/gm)]
    .flatMap(([, rows = '']) => rows.trim().split('\n'))
    .map((row) => /^\| `([\w.]+)` \|/.exec(row)?.[1] ?? row);

test('docs/timeline.md defines every word that a program may read', async () => {
  const page = pageText('docs/timeline.md');
  const words = [
    ...['agent-post', 'person', 'policy-auto', 'not-before-elapsed', 'hardware-failure', 'unknown'],
    ...['completed', 'canceled', 'missed-start', 'started-only', 'expired', 'open'],
    ...['silent', 'gone', 'source-failing', 'joined-later', 'late', 'no-agent', 'heard', 'asleep'],
    ...['itself', 'peers', 'nobody', 'said', 'measured', 'inferred', 'estimated'],
  ];
  expect(words.filter((word) => !page.includes(`\`${word}\``))).toEqual([]);
});

test('the beginning of an id is enough, of 8 characters or more and in any case, unless several events begin with it', async () => {
  using directory = temporaryDirectory();
  const path = await someTrail(directory.path);
  const ask = (id: string) => runCommandLine(['timeline', id, '--trail', path, '-o', 'json']);
  {
    await using trail = openSqliteTrail(path);
    const ids = ['fedcba98-7', ...[3, 4, 5, 6, 7].map((index) => `abcdef01-${index}`)];
    const events = ids.map((id, index) => freeze(index + 3, { eventId: `${id}-and-more` }));
    const records = events.map((event, index) => saying({ kind: 'scheduled', event, sequence: 20 + index }));
    await trail.append('ns/hub/1/epoch', emptyStream, asHubEvents(records));
  }
  for (const id of ['fedcba98', 'ABCDEF01-3'])
    expect(await ask(id)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`${id.toLowerCase()}-`),
    });
  expect(await ask('AbcDef01-')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `seb: 5 events begin with "AbcDef01-": give more of the one that you mean: ${[3, 4, 5, 6, 7].map((index) => `abcdef01-${index}-and-more`).join(', ')}\n`,
  });
  const shared = String(eventId).slice(0, -1);
  expect((await ask(shared)).stderr).toContain(`2 events begin with "${shared}"`);
  expect(await ask('ABCDEF0')).toEqual({
    ...{ exitCode: 1, stdout: '' },
    stderr: 'seb: the trail knows no event "ABCDEF0": give the id, or its first 8 characters or more\n',
  });
});

test('an event that the trail does not know, and a trail that is not brought up to date, are told in a sentence', async () => {
  using directory = temporaryDirectory();
  const path = await someTrail(directory.path);
  const ask = (...words: string[]) => runCommandLine(['timeline', ...words, '--trail', path]);
  expect(await ask('nothing-like-it')).toEqual({
    ...{
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^seb: the trail knows no event "nothing-like-it": "seb events" lists/),
    },
  });
  expect(await ask()).toMatchObject({ exitCode: 2, stdout: '' });
  expect(await ask(eventIdOf(0), '-o', 'csv')).toMatchObject({ exitCode: 2, stdout: '' });
  makeVersion2(path);
  const { exitCode, stderr } = await ask(eventIdOf(0));
  expect(exitCode).toBe(1);
  expect(stderr).toContain('"seb consumer" brings it up to date when it next starts');
});
