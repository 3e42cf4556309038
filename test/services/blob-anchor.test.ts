// The anchor in append blobs against Azurite: one blob a month and trail, another when it is full, each head once.
import { expect, it } from 'vitest';
import { openAppendBlobs } from '../../src/blobs/append-blobs.ts';
import { openContainer as openBlobs } from '../../src/blobs/container.ts';
import { anchors as anchorSettings } from '../../src/config/consumer-trail.ts';
import { Secret } from '../../src/config/secret.ts';
import { anchorInBlobs } from '../../src/consumer/anchors/blob.ts';
import { openAnchors } from '../../src/consumer/anchors/registry.ts';
import { notesIn } from '../../src/core/note-list.ts';
import { openContainer, type TestContainer } from './support/azurite.ts';

const { signal } = new AbortController();
const trail = '11111111-1111-4111-8111-111111111111';
const origin = `trail/${trail}/seal`;
const noteOf = (size: number): string =>
  `${origin}\n${size}\n${Buffer.alloc(32, size).toString('base64')}\n\n— test.example/fleet ${'A'.repeat(91)}=\n`;

const november = Date.UTC(2026, 10, 30, 23, 59);
const december = Date.UTC(2026, 11, 1);

function anchorIn(
  { connectionString, container }: TestContainer,
  limits: { now: number; blocksMax: number },
) {
  const secret = new Secret('plain', () => connectionString);
  const blobs = openAppendBlobs(openBlobs({ connectionString: secret, container }));
  return anchorInBlobs(blobs, { blocksMax: limits.blocksMax, now: () => limits.now });
}

async function contentOf({ client }: TestContainer): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {};
  for await (const { name } of client.listBlobsFlat()) {
    const bytes = await client.getBlobClient(name).downloadToBuffer();
    found[name.replace(`${trail}/`, '')] = notesIn(bytes.toString('utf8')).map(
      (note) => note.split('\n')[1] ?? '',
    );
  }
  return found;
}

it('begins a blob with each month, and another when one has so many blocks', async () => {
  await using container = await openContainer();
  const limits = { now: november, blocksMax: 2 };
  await using anchor = anchorIn(container, limits);
  for (let size = 1; size <= 5; size++) {
    expect(await anchor.put(origin, noteOf(size), signal)).toMatchObject({ status: 'anchored' });
  }
  limits.now = december;
  expect(await anchor.put(origin, noteOf(6), signal)).toEqual({
    status: 'anchored',
    reference: `${trail}/seals-2026-12.notes`,
  });
  expect(await contentOf(container)).toEqual({
    'seals-2026-11.notes': ['1', '2'],
    'seals-2026-11-2.notes': ['3', '4'],
    'seals-2026-11-3.notes': ['5'],
    'seals-2026-12.notes': ['6'],
  });
  expect(await anchor.newest?.(origin, signal)).toEqual({ status: 'known', note: noteOf(6) });
  expect(await anchor.newest?.('trail/other/seal', signal)).toEqual({ status: 'known', note: null });
});

it('keeps the heads of several consumers apart, and the same head of two of them once', async () => {
  await using container = await openContainer();
  const limits = { now: november, blocksMax: 40_000 };
  const writers = [1, 2, 3].map(() => anchorIn(container, limits));
  await Promise.all(writers.map((anchor, index) => anchor.put(origin, noteOf(index + 1), signal)));
  await Promise.all(writers.map((anchor) => anchor.put(origin, noteOf(9), signal)));
  const [sizes = []] = Object.values(await contentOf(container));
  expect(sizes.slice(0, 3).toSorted()).toEqual(['1', '2', '3']);
  expect(sizes.slice(3).length).toBeLessThanOrEqual(3);
  expect(sizes.slice(3).every((size) => size === '9')).toBe(true);
  expect(await writers[0]?.newest?.(origin, signal)).toEqual({ status: 'known', note: noteOf(9) });
});

it('is checked without a blob being made, and says what is wrong with the container', async () => {
  await using container = await openContainer();
  const { connectionString } = container;
  const settings = [container.container, 'not-there'].map((name) => ({
    ...{ type: 'blob', connectionString, container: name },
  }));
  await using opened = await openAnchors(anchorSettings.parse(settings));
  const checks = await Promise.all(opened.all.map(({ anchor }) => anchor.check(signal)));
  expect(checks).toEqual([
    { ok: true, detail: expect.stringContaining('nothing was written') },
    { ok: false, detail: expect.stringContaining('not-found; make the container') },
  ]);
  expect(await contentOf(container)).toEqual({});
  expect(await opened.all[1]?.anchor.put(origin, noteOf(1), signal)).toEqual({
    status: 'failed',
    reason: 'not-found',
  });
});
