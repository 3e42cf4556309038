// Each kind of anchor by itself: what it writes, what it reads back, what it refuses, and what it says when it cannot.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchors as anchorSettings } from '../../src/config/consumer-trail.ts';
import type { Anchor } from '../../src/consumer/anchors/anchor.ts';
import { openAnchors } from '../../src/consumer/anchors/registry.ts';
import { openAnchorTurns } from '../../src/consumer/anchors/turns.ts';
import { notesIn } from '../../src/core/note-list.ts';
import { openInbox } from '../support/inbox.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const { signal } = new AbortController();
const origin = 'trail/11111111-1111-4111-8111-111111111111/seal';
const noteOf = (size: number, of = origin): string =>
  `${of}\n${size}\n${Buffer.alloc(32, size).toString('base64')}\n\n— test.example/fleet ${'A'.repeat(91)}=\n`;

async function openOne(settings: object) {
  const opened = await openAnchors(anchorSettings.parse([settings]));
  const named = opened.all[0];
  if (named === undefined) throw new Error('no anchor');
  return { ...named, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

describe('a file', () => {
  test('gets each note behind the one before, and gives the newest of an origin', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'made', 'seals.notes');
    await using one = await openOne({ type: 'file', path });
    expect(await one.anchor.newest?.(origin, signal)).toEqual({ status: 'known', note: null });
    for (const size of [1, 2, 3]) {
      expect(await one.anchor.put(origin, noteOf(size), signal)).toEqual({
        status: 'anchored',
        reference: null,
      });
    }
    const other = 'trail/22222222-2222-4222-8222-222222222222/seal';
    await one.anchor.put(other, noteOf(9, other), signal);
    expect(readFileSync(path, 'utf8')).toBe(
      [noteOf(1), noteOf(2), noteOf(3), noteOf(9, other)].map((note) => `${note}\n`).join(''),
    );
    expect(await one.anchor.newest?.(origin, signal)).toEqual({ status: 'known', note: noteOf(3) });
  });

  test('that ends in half a note keeps it apart from the next one', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'seals.notes');
    await using one = await openOne({ type: 'file', path });
    for (const torn of [noteOf(1).slice(0, 20), noteOf(1).slice(0, -30), noteOf(1)]) {
      writeFileSync(path, torn);
      await one.anchor.put(origin, noteOf(2), signal);
      expect(notesIn(readFileSync(path, 'utf8')).at(-1)).toBe(noteOf(2));
      expect(await one.anchor.newest?.(origin, signal)).toEqual({ status: 'known', note: noteOf(2) });
    }
  });

  test('is searched to its beginning for an origin that others followed', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'seals.notes');
    const other = 'trail/22222222-2222-4222-8222-222222222222/seal';
    writeFileSync(path, `${noteOf(7)}\n`);
    for (let size = 1; size < 6_000; size++) appendFileSync(path, `${noteOf(size % 200, other)}\n`);
    await using one = await openOne({ type: 'file', path });
    expect(await one.anchor.newest?.(origin, signal)).toEqual({ status: 'known', note: noteOf(7) });
  });

  test('that is none is refused, and what the system says comes as one of a few words', async () => {
    using directory = temporaryDirectory();
    const inTheWay = join(directory.path, 'file');
    writeFileSync(inTheWay, '');
    mkdirSync(join(directory.path, 'directory'));
    for (const [path, reason] of [
      [join(inTheWay, 'seals.notes'), 'no-file'],
      [join(directory.path, 'directory'), 'no-file'],
      ['/dev/full', 'no-file'],
    ]) {
      await using one = await openOne({ type: 'file', path });
      expect(await one.anchor.put(origin, noteOf(1), signal)).toEqual({ status: 'failed', reason });
      expect(await one.anchor.check(signal)).toMatchObject({ ok: false });
    }
  });

  test('is checked without being made or written to', async () => {
    using directory = temporaryDirectory();
    const path = join(directory.path, 'not', 'yet', 'seals.notes');
    await using one = await openOne({ type: 'file', path });
    expect(await one.anchor.check(signal)).toMatchObject({ ok: true });
    expect(existsSync(join(directory.path, 'not'))).toBe(false);
    await one.anchor.put(origin, noteOf(1), signal);
    const before = readFileSync(path, 'utf8');
    expect(await one.anchor.check(signal)).toMatchObject({ ok: true });
    expect(readFileSync(path, 'utf8')).toBe(before);
  });
});

describe('a webhook', () => {
  const webhook = (url: string) => ({ type: 'webhook', url, allowHttp: true });

  test('posts the note as it is, as text', async () => {
    await using inbox = await openInbox();
    await using one = await openOne(webhook(`${inbox.url}/heads?key=secret`));
    expect(await one.anchor.put(origin, noteOf(1), signal)).toEqual({ status: 'anchored', reference: null });
    const [request] = inbox.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/heads?key=secret' });
    expect(request?.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(request?.body.toString('utf8')).toBe(noteOf(1));
    expect(one.name).toBe('webhook:plain');
  });

  test('is tried again within the attempt while it fails for a moment, and not when it refuses', async () => {
    await using inbox = await openInbox();
    await using one = await openOne(webhook(inbox.url));
    inbox.answer({ status: 503 }, {});
    expect(await one.anchor.put(origin, noteOf(1), signal)).toMatchObject({ status: 'anchored' });
    expect(inbox.requests).toHaveLength(2);
    inbox.answer({ status: 403 });
    expect(await one.anchor.put(origin, noteOf(2), signal)).toEqual({ status: 'failed', reason: 'http-403' });
    expect(inbox.requests).toHaveLength(3);
  });

  test('follows no redirect, and reaches neither the metadata service nor this machine unless allowed', async () => {
    await using inbox = await openInbox();
    inbox.answer({ status: 302, headers: { location: `${inbox.url}/elsewhere` } });
    await using redirected = await openOne(webhook(inbox.url));
    expect(await redirected.anchor.put(origin, noteOf(1), signal)).toMatchObject({ status: 'failed' });
    expect(inbox.requests).toHaveLength(1);
    for (const settings of [
      { type: 'webhook', url: inbox.url },
      { type: 'webhook', url: `https://127.0.0.1:${inbox.port}/` },
      { type: 'webhook', url: 'https://169.254.169.254/heads', allowHttp: true },
      { type: 'webhook', url: 'https://168.63.129.16/heads', allowHttp: true },
    ]) {
      await using one = await openOne(settings);
      expect(await one.anchor.put(origin, noteOf(1), signal)).toEqual({
        status: 'failed',
        reason: 'egress-blocked',
      });
    }
    expect(inbox.connections).toBe(1);
  });

  test('keeps its address to itself, whatever goes wrong', async () => {
    const said: unknown[] = [];
    for (const url of ['https://user:hush-hush@127.0.0.1/', 'hush-hush', 'http://127.0.0.1:9/hush-hush']) {
      await using one = await openOne(webhook(url));
      said.push(one.name, await one.anchor.put(origin, noteOf(1), signal), await one.anchor.check(signal));
    }
    expect(JSON.stringify(said)).not.toContain('hush');
  });
});

test('an operation that hangs is given up, no other begins meanwhile, and the next one waits for its end', async () => {
  const { promise: share, resolve: mount } = Promise.withResolvers<void>();
  let begun = 0;
  const hanging: Anchor = {
    place: 'a share whose server is gone',
    put: async () => ({ status: 'anchored', reference: null }),
    newest: async () => {
      begun += 1;
      await share;
      return { status: 'known', note: null };
    },
    check: async () => ({ ok: true, detail: '' }),
    [Symbol.asyncDispose]: async () => undefined,
  };
  const turns = openAnchorTurns(hanging);
  const given = { status: 'failed', reason: 'timeout' };
  expect(await turns.newest?.(origin, signal, 30)).toEqual(given);
  expect(await turns.newest?.(origin, signal, 30)).toEqual(given);
  const stopped = await turns.put(origin, noteOf(1), AbortSignal.timeout(30));
  expect(stopped).toEqual({ status: 'failed', reason: 'aborted' });
  expect(begun).toBe(1);
  const next = turns.put(origin, noteOf(1), signal);
  mount();
  expect(await next).toMatchObject({ status: 'anchored' });
});

test('anchors of the same place have names of their own', async () => {
  const twice = [1, 2, 3].map((port) => ({ type: 'webhook', url: `https://127.0.0.1:${port}/` }));
  await using opened = await openAnchors(anchorSettings.parse(twice));
  expect(opened.all.map(({ name }) => name)).toEqual(['webhook:plain', 'webhook:plain#2', 'webhook:plain#3']);
});

describe('a list of notes', () => {
  test('gives back what was listed, byte for byte', () => {
    const notes = [1, 2, 3].map((size) => noteOf(size));
    expect(notesIn(notes.map((note) => `${note}\n`).join(''))).toEqual(notes);
    expect(notesIn(noteOf(1))).toEqual([noteOf(1)]);
    expect(notesIn('')).toEqual([]);
  });

  test('leaves out what was torn at any byte, and never takes two for one', () => {
    const [one, two] = [noteOf(1), noteOf(2)];
    for (let at = 0; at < one.length - 1; at++) {
      const end = one.slice(0, at);
      const gap = end === '' || end.endsWith('\n\n') ? '' : end.endsWith('\n') ? '\n' : '\n\n';
      const found = notesIn(`${end}${gap}${two}\n`);
      expect(found.at(-1), String(at)).toBe(two);
      expect(found.length, String(at)).toBeLessThanOrEqual(2);
    }
    expect(notesIn(one.slice(0, -1))).toEqual([]);
  });
});
