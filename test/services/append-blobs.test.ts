// Append blobs against Azurite: what is added where, by whom first, and what is said when it cannot be.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openAppendBlobs } from '../../src/blobs/append-blobs.ts';
import { openContainer as openBlobs } from '../../src/blobs/container.ts';
import { Secret } from '../../src/config/secret.ts';
import { openContainer, type TestContainer } from './support/azurite.ts';

const patience = new AbortController().signal;
const bytes = (text: string): Uint8Array => Buffer.from(text);

const blobsOf = ({ connectionString, container }: Pick<TestContainer, 'connectionString' | 'container'>) =>
  openAppendBlobs(openBlobs({ connectionString: new Secret('plain', () => connectionString), container }));

it('makes a blob with its first bytes, and adds only where it ends', async () => {
  await using container = await openContainer();
  const blobs = blobsOf(container);
  expect(await blobs.append('a/b.jsonl', bytes('one\n'), 0, patience)).toEqual({
    ...{ status: 'appended', length: 4, blocks: 1 },
  });
  expect(await blobs.append('a/b.jsonl', bytes('two\n'), 4, patience)).toEqual({
    ...{ status: 'appended', length: 8, blocks: 2 },
  });
  expect(await blobs.append('a/b.jsonl', bytes('no\n'), 4, patience)).toEqual({ status: 'moved', length: 8 });
  expect(await blobs.append('a/b.jsonl', bytes('no\n'), 9, patience)).toEqual({ status: 'moved', length: 8 });
  expect(await blobs.append('a/b.jsonl', bytes('no\n'), 0, patience)).toEqual({ status: 'moved', length: 8 });
  expect(await blobs.append('other', bytes('no\n'), 5, patience)).toEqual({ status: 'moved', length: 0 });
  expect(await blobs.properties('a/b.jsonl', patience)).toEqual({ status: 'known', length: 8, blocks: 2 });
  const { contentType } = await container.client.getBlobClient('a/b.jsonl').getProperties();
  expect(contentType).toBe('application/x-ndjson');
});

it('reads from any place up to a length, nothing beyond the end, and says what is missing', async () => {
  await using container = await openContainer();
  const blobs = blobsOf(container);
  await blobs.append('x', bytes('0123456789'), 0, patience);
  const textAt = async (from: number, length: number) => {
    const read = await blobs.read('x', from, length, patience);
    return read.status === 'read' ? Buffer.from(read.bytes).toString() : read;
  };
  expect(await textAt(0, 4)).toBe('0123');
  expect(await textAt(8, 4)).toBe('89');
  expect(await textAt(10, 4)).toBe('');
  expect(await textAt(11, 4)).toBe('');
  expect(await blobs.read('y', 0, 4, patience)).toEqual({ status: 'missing' });
  expect(await blobs.properties('y', patience)).toEqual({ status: 'missing' });
});

it('lists what begins with a prefix, by name', async () => {
  await using container = await openContainer();
  const blobs = blobsOf(container);
  for (const name of ['s/2', 't/1', 's/1']) await blobs.append(name, bytes(name), 0, patience);
  expect(await blobs.list('s/', patience)).toEqual({
    status: 'listed',
    blobs: [
      { name: 's/1', length: 3 },
      { name: 's/2', length: 3 },
    ],
  });
});

it('lets one of two writers win each place, and tells the other', async () => {
  await using container = await openContainer();
  const writer = async (mark: string): Promise<void> => {
    const blobs = blobsOf(container);
    for (let at = 0, written = 0; written < 20; ) {
      const answer = await blobs.append('shared', bytes(mark), at, patience);
      if (answer.status !== 'appended' && answer.status !== 'moved') throw new Error(answer.status);
      if (answer.status === 'appended') written += 1;
      at = answer.length;
    }
  };
  await Promise.all([writer('a'), writer('b')]);
  const text = (await container.client.getBlobClient('shared').downloadToBuffer()).toString();
  expect([...text].sort().join('')).toBe(`${'a'.repeat(20)}${'b'.repeat(20)}`);
});

it('says that a container or a key is wrong, and that nobody answers, without their secrets', async () => {
  await using container = await openContainer();
  const { connectionString } = container;
  const missing = blobsOf({ connectionString, container: 'missing-container' });
  const wrongKey = connectionString.replace(/AccountKey=[^;]+/, `AccountKey=${'A'.repeat(86)}==`);
  const silent = connectionString.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:9');
  const said = [
    await missing.append('x', bytes('x'), 0, patience),
    await missing.list('', patience),
    await blobsOf({ ...container, connectionString: wrongKey }).append('x', bytes('x'), 0, patience),
    await blobsOf({ ...container, connectionString: silent }).read('x', 0, 1, patience),
    await blobsOf({ ...container, connectionString: 'AccountKey=marker' }).read('x', 0, 1, patience),
  ];
  expect(said).toEqual(
    ['not-found', 'not-found', 'unauthorized', 'unreachable', 'connection-string-invalid'].map((reason) => {
      return { status: 'failed', reason };
    }),
  );
});

it('refuses to write into a blob of another kind', async () => {
  await using container = await openContainer();
  await container.client.getBlockBlobClient('block').upload('abc', 3);
  expect(await blobsOf(container).append('block', bytes('x'), 3, patience)).toEqual({
    ...{ status: 'failed', reason: 'refused' },
  });
});

it('gives up when whoever asked no longer wants to know', async () => {
  await using container = await openContainer();
  const leaving = new AbortController();
  const reading = blobsOf(container).list('', leaving.signal);
  await delay(0);
  leaving.abort();
  const late = await blobsOf(container).list('', leaving.signal);
  expect(late).toEqual({ status: 'failed', reason: 'aborted' });
  expect(['listed', 'failed']).toContain((await reading).status);
});
