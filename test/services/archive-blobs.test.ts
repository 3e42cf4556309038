// A copy of a trail in append blobs, against Azurite: the contract of its files, several writers, lost answers, damage.
import { createServer, request } from 'node:http';
import { ContainerSASPermissions } from '@azure/storage-blob';
import { describe, expect, it } from 'vitest';
import { openArchiveSource } from '../../src/audit/archive/archive-source.ts';
import { openBlobFiles } from '../../src/audit/archive/blob-files.ts';
import type { ArchiveFiles } from '../../src/audit/archive/files.ts';
import { openArchiveWriter } from '../../src/audit/archive/writer.ts';
import { openContainer as openBlobs } from '../../src/blobs/container.ts';
import { Secret } from '../../src/config/secret.ts';
import { contentOf, copyTo, dayMs, firstDay, grow, readCopy, seal } from '../support/archive/copies.ts';
import { keepsFiles, patience } from '../support/archive/files-contract.ts';
import { runCommandLine } from '../support/command-line.ts';
import { sqliteWorld } from '../support/trail/sqlite-world.ts';
import { other, sign, signer, stream } from '../support/trail/world.ts';
import { openContainer, type TestContainer } from './support/azurite.ts';

type Place = Pick<TestContainer, 'connectionString' | 'container'>;

const filesOf = ({ connectionString, container }: Place): ArchiveFiles =>
  openBlobFiles(openBlobs({ connectionString: new Secret('plain', () => connectionString), container }));

describe('files in a container', () =>
  keepsFiles(async () => {
    const container = await openContainer();
    return {
      open: () => filesOf(container),
      [Symbol.asyncDispose]: () => container[Symbol.asyncDispose](),
    };
  }));

describe('a copy in a container', () => {
  it('says the same as the trail, and goes on from what stands there', async () => {
    await using container = await openContainer();
    await using world = sqliteWorld();
    await using trail = await world.open({ sign });
    for (let round = 0; round < 4; round += 1) {
      await grow(trail, 20, firstDay + (round * dayMs) / 2, round % 2 === 0 ? stream : other);
      await seal(trail);
      await using source = await world.source();
      await copyTo(filesOf(container), source);
    }
    await using source = await world.source();
    expect(await readCopy(filesOf(container))).toEqual({ content: await contentOf(source), faults: [] });
  });

  it('is the same when two write it at once', async () => {
    await using container = await openContainer();
    await using world = sqliteWorld();
    await using trail = await world.open({ sign });
    const write = async (): Promise<void> => {
      const writer = openArchiveWriter(filesOf(container));
      for (let round = 0; round < 12; round += 1) {
        await using source = await world.source();
        const result = await writer.copy(source, { signal: patience, lengthMax: 300 });
        expect(['done', 'more']).toContain(result.status);
      }
    };
    for (let round = 0; round < 3; round += 1) {
      await grow(trail, 30, firstDay + (round * dayMs) / 2);
      await grow(trail, 30, firstDay + (round * dayMs) / 2, other);
      await seal(trail);
      await Promise.all([write(), write()]);
    }
    await using source = await world.source();
    await copyTo(filesOf(container), source);
    expect(await readCopy(filesOf(container))).toEqual({ content: await contentOf(source), faults: [] });
  });

  it('doubles nothing when the answer to an append is lost', async () => {
    await using container = await openContainer();
    await using world = sqliteWorld();
    await using trail = await world.open({ sign });
    await using proxy = await losingAnswers(container.connectionString);
    const writer = openArchiveWriter(filesOf({ ...container, connectionString: proxy.connectionString }));
    for (let round = 0; round < 4; round += 1) {
      await grow(trail, 10, firstDay + (round * dayMs) / 2);
      await seal(trail);
      await using source = await world.source();
      for (let status = ''; status !== 'done'; )
        status = (await writer.copy(source, { signal: patience })).status;
    }
    expect(proxy.lost()).toBeGreaterThan(3);
    await using source = await world.source();
    expect(await readCopy(filesOf(container))).toEqual({ content: await contentOf(source), faults: [] });
  });

  it('is read as it stands while somebody writes it: never a seal or a head of what is not there', async () => {
    await using container = await openContainer();
    await using world = sqliteWorld();
    await using trail = await world.open({ sign });
    await grow(trail, 3);
    const writing = new AbortController();
    const write = async (): Promise<void> => {
      const writer = openArchiveWriter(filesOf(container));
      for (let round = 0; !writing.signal.aborted; round += 1) {
        await grow(trail, 5, firstDay + round * 60_000);
        await seal(trail);
        await using source = await world.source();
        await writer.copy(source, { signal: patience });
      }
    };
    const done = write();
    let looks = 0;
    while (looks < 8) {
      const found = await filesOf(container).list('', patience);
      if (found.status !== 'listed' || found.files.length < 4) continue;
      looks += 1;
      await using copy = await openArchiveSource(filesOf(container));
      for (const { name, size } of await copy.streams()) {
        let read = 0;
        for await (const chunk of copy.entries(name)) read += chunk.length;
        expect([name, read]).toEqual([name, size]);
      }
      expect(copy.faults?.()).toEqual([]);
    }
    writing.abort();
    await done;
  });

  it('is verified where its address is given, with a signature that nobody prints', async () => {
    await using container = await openContainer();
    await using world = sqliteWorld();
    await using trail = await world.open({ sign });
    await grow(trail, 20);
    await seal(trail);
    await using source = await world.source();
    await copyTo(filesOf(container), source);
    const address = await container.client.generateSasUrl({
      permissions: ContainerSASPermissions.parse('rl'),
      expiresOn: new Date(Date.now() + 3_600_000),
    });
    const words = ['--key', signer.verifier.text, '--accept', 'no-anchor'];
    const verified = await runCommandLine(['audit', 'verify', '--trail', address, ...words]);
    expect([verified.exitCode, verified.stderr]).toEqual([0, '']);
    const wrong = await runCommandLine(['audit', 'verify', '--trail', `${address}0`, ...words]);
    expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining('unauthorized')]);
    const printed = [verified, wrong].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(printed).toContain(container.container);
    expect(printed).not.toMatch(/sig=|se=/);
  });

  it('says what is in the way, and is complete once it no longer is', async () => {
    await using container = await openContainer();
    await using world = sqliteWorld();
    await using trail = await world.open();
    await grow(trail, 3);
    await using source = await world.source();
    const missing = openArchiveWriter(filesOf({ ...container, container: 'missing-container' }));
    expect(await missing.copy(source, { signal: patience })).toMatchObject({
      ...{ status: 'failed', reason: 'not-found' },
    });
    const silent = container.connectionString.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:9');
    const unreachable = openArchiveWriter(filesOf({ ...container, connectionString: silent }));
    expect(await unreachable.copy(source, { signal: patience })).toMatchObject({
      ...{ status: 'failed', reason: 'unreachable' },
    });
    const writer = openArchiveWriter(filesOf(container));
    expect(await writer.copy(source, { signal: patience })).toMatchObject({ status: 'done' });
  });
});

/** Hands requests on, and lets go of the connection instead of answering every second append. */
async function losingAnswers(
  connectionString: string,
): Promise<AsyncDisposable & { readonly connectionString: string; lost(): number }> {
  const [, port] = /127\.0\.0\.1:(\d+)/.exec(connectionString) ?? [];
  let [appends, lost] = [0, 0];
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      const isAppend = path?.includes('comp=appendblock') === true;
      appends += isAppend ? 1 : 0;
      if (isAppend && appends % 2 === 0) {
        lost += 1;
        answer.resume();
        incoming.socket.destroy();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const own = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    // The signature is over the path and the headers, and the host is in neither.
    connectionString: connectionString.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${own}`),
    lost: () => lost,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
