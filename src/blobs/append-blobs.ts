// Append blobs by name: made when missing, added to only where the caller knows they end, read and listed.
import type { ContainerClient } from '@azure/storage-blob';
import type { BlobContainer } from './container.ts';
import { type BlobFailure, codeOf, failed, statusOf } from './fault.ts';

/** How far an append blob has come. */
export interface BlobExtent {
  /** Bytes. */
  readonly length: number;
  /** How many appends made it; the service takes 50,000 (`BlockCountExceedsLimit`). */
  readonly blocks: number;
}

export type BlobAppend =
  | ({ readonly status: 'appended' } & BlobExtent)
  /** It does not end at `at`: nothing was written, and this is where it ends now; 0 while there is none. */
  | { readonly status: 'moved'; readonly length: number }
  /** It takes no more blocks: go on in another one. */
  | { readonly status: 'full' }
  | BlobFailure;

export type BlobRead =
  /** Up to `lengthMax` bytes from `from` on; fewer at the end of the blob, none beyond it. */
  { readonly status: 'read'; readonly bytes: Uint8Array } | { readonly status: 'missing' } | BlobFailure;

export interface ListedBlob {
  readonly name: string;
  readonly length: number;
}

/** Append blobs of one container. */
export interface AppendBlobs {
  /** Where they are, for a sentence, without a secret. */
  readonly place: string;
  /**
   * Adds bytes if the blob ends at `at`, and makes it first when `at` is 0. A lost answer may have been a success:
   * the next try then gives `moved`, and what stands there tells.
   * @param bytes at most 4 MiB, which every version of the service takes in one block:
   *   https://learn.microsoft.com/rest/api/storageservices/append-block
   */
  append(name: string, bytes: Uint8Array, at: number, signal: AbortSignal): Promise<BlobAppend>;
  read(name: string, from: number, lengthMax: number, signal: AbortSignal): Promise<BlobRead>;
  properties(
    name: string,
    signal: AbortSignal,
  ): Promise<({ readonly status: 'known' } & BlobExtent) | { readonly status: 'missing' } | BlobFailure>;
  /** By name. */
  list(
    prefix: string,
    signal: AbortSignal,
  ): Promise<{ readonly status: 'listed'; readonly blobs: readonly ListedBlob[] } | BlobFailure>;
}

/** Well before the service's own 50,000, so that no writer ever meets that. */
export const blocksMax = 40_000;

const pageLength = 5_000;
/** A list that is longer is no archive of ours. */
const listedMax = 1_000_000;

/** The append blobs of a container. */
export const openAppendBlobs = (container: BlobContainer): AppendBlobs => ({
  place: container.place,
  append: (name, bytes, at, signal) => append(container, { name, bytes, at }, signal),
  read: (name, from, lengthMax, signal) =>
    container.ask(signal, (client, abortSignal) => read(client, { name, from, lengthMax }, abortSignal)),
  properties: (name, signal) =>
    container.ask(signal, (client, abortSignal) => extentOf(client, name, abortSignal)),
  list: (prefix, signal) => list(container, prefix, signal),
});

interface Addition {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly at: number;
}

function append(container: BlobContainer, addition: Addition, signal: AbortSignal): Promise<BlobAppend> {
  return container.ask<BlobAppend>(signal, async (client, abortSignal) => {
    const first = await tryAppend(client, addition, abortSignal);
    if (first.status !== 'missing') return first;
    if (addition.at > 0) return { status: 'moved', length: 0 };
    await make(client, addition.name, abortSignal);
    const second = await tryAppend(client, addition, abortSignal);
    return second.status === 'missing' ? failed('unexpected') : second;
  });
}

async function tryAppend(
  client: ContainerClient,
  { name, bytes, at }: Addition,
  abortSignal: AbortSignal,
): Promise<BlobAppend | { readonly status: 'missing' }> {
  try {
    const blob = client.getAppendBlobClient(name);
    const { blobCommittedBlockCount } = await blob.appendBlock(Buffer.from(bytes), bytes.length, {
      abortSignal,
      conditions: { appendPosition: at },
    });
    return { status: 'appended', length: at + bytes.length, blocks: blobCommittedBlockCount ?? 0 };
  } catch (error) {
    const code = codeOf(error);
    if (code === 'BlobNotFound') return { status: 'missing' };
    if (code === 'BlockCountExceedsLimit') return { status: 'full' };
    if (code !== 'AppendPositionConditionNotMet') throw error;
    const now = await extentOf(client, name, abortSignal);
    return { status: 'moved', length: now.status === 'known' ? now.length : 0 };
  }
}

/** Makes an empty one, unless another writer was quicker. */
async function make(client: ContainerClient, name: string, abortSignal: AbortSignal): Promise<void> {
  const blobHTTPHeaders = { blobContentType: contentTypeOf(name) };
  await client.getAppendBlobClient(name).createIfNotExists({ abortSignal, blobHTTPHeaders });
}

const contentTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  jsonl: 'application/x-ndjson',
};
const contentTypeOf = (name: string): string =>
  contentTypes[name.slice(name.lastIndexOf('.') + 1)] ?? 'text/plain; charset=utf-8';

async function extentOf(
  client: ContainerClient,
  name: string,
  abortSignal: AbortSignal,
): Promise<({ readonly status: 'known' } & BlobExtent) | { readonly status: 'missing' }> {
  try {
    const { contentLength, blobCommittedBlockCount } = await client
      .getAppendBlobClient(name)
      .getProperties({ abortSignal });
    return { status: 'known', length: contentLength ?? 0, blocks: blobCommittedBlockCount ?? 0 };
  } catch (error) {
    if (codeOf(error) === 'BlobNotFound') return { status: 'missing' };
    throw error;
  }
}

interface Range {
  readonly name: string;
  readonly from: number;
  readonly lengthMax: number;
}

async function read(
  client: ContainerClient,
  { name, from, lengthMax }: Range,
  abortSignal: AbortSignal,
): Promise<BlobRead> {
  try {
    const answer = await client.getBlobClient(name).download(from, lengthMax, { abortSignal });
    const parts: Buffer[] = [];
    for await (const part of answer.readableStreamBody ?? []) parts.push(Buffer.from(part));
    return { status: 'read', bytes: Buffer.concat(parts) };
  } catch (error) {
    if (codeOf(error) === 'BlobNotFound') return { status: 'missing' };
    // Nothing stands there yet (InvalidRange).
    if (statusOf(error) === 416) return { status: 'read', bytes: new Uint8Array() };
    throw error;
  }
}

async function list(
  container: BlobContainer,
  prefix: string,
  signal: AbortSignal,
): ReturnType<AppendBlobs['list']> {
  const blobs: ListedBlob[] = [];
  let continuationToken: string | undefined;
  do {
    // Each page is a request of its own, with its own limit in time.
    const page = await container.ask(signal, async (client, abortSignal) => {
      const pages = client
        .listBlobsFlat({ prefix, abortSignal })
        .byPage({ maxPageSize: pageLength, ...(continuationToken && { continuationToken }) });
      const { value } = await pages.next();
      return { status: 'page' as const, items: value.segment.blobItems, next: value.continuationToken };
    });
    if (page.status === 'failed') return page;
    for (const { name, properties } of page.items)
      blobs.push({ name, length: properties.contentLength ?? 0 });
    continuationToken = page.next === '' ? undefined : page.next;
    if (blobs.length > listedMax) return failed('unexpected');
  } while (continuationToken !== undefined);
  return { status: 'listed', blobs };
}
