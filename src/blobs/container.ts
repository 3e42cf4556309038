// Opens a container of blobs from its settings, with short waits: the one place that knows the SDK of blob storage.
import type { ContainerClient } from '@azure/storage-blob';
import type { Secret } from '../config/secret.ts';
import { type BlobFailure, failed, reasonOf } from './fault.ts';

/** How settings name a container: its address and an identity, or a connection string and a name. */
export interface ContainerSettings {
  readonly containerUrl?: string | undefined;
  readonly connectionString?: Secret | undefined;
  readonly container?: string | undefined;
  readonly clientId?: string | undefined;
  /** An address instead of all that; one with a signature behind its question mark needs no identity. */
  readonly address?: Secret | undefined;
}

/** A container that is named and not yet reached. */
export interface BlobContainer {
  /** Its address without a secret, for a sentence, such as `account.blob.core.windows.net/anchors`. */
  readonly place: string;
  /** The SDK's own client, loaded now at the latest; for a library that wants one. */
  client(): Promise<ContainerClient>;
  /** One request with its limit in time: what fails is a value. */
  ask<Answer>(
    signal: AbortSignal,
    request: (client: ContainerClient, signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer | BlobFailure>;
  /** Whether the container is there and may be read. */
  check(signal: AbortSignal): Promise<{ readonly status: 'reached' } | BlobFailure>;
}

// The SDK's own are 4 tries with up to two minutes between them and no end to a single one.
const retryOptions = { maxTries: 3, retryDelayInMs: 200, maxRetryDelayInMs: 1_000 };
/** What one request may take in all, tries and pauses included. */
export const requestMsMax = 15_000;

/** A container that cannot be opened: what the settings say is wrong, whoever answers. */
class Unopened extends Error {
  readonly reason: 'connection-string-invalid';
  constructor(reason: 'connection-string-invalid') {
    super(reason);
    this.reason = reason;
  }
}

/** Nothing is loaded or opened before the first request. @param timeoutMs what one request may take */
export function openContainer(settings: ContainerSettings, timeoutMs = requestMsMax): BlobContainer {
  let opening: Promise<ContainerClient> | undefined;
  // Kept once it came about: a secret that cannot be read now may be readable later.
  const client = async (): Promise<ContainerClient> => {
    opening ??= clientOf(settings);
    try {
      return await opening;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };
  const ask: BlobContainer['ask'] = async (signal, request) => {
    // The SDK listens to a signal before its first request only in some places.
    if (signal.aborted) return failed('aborted');
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      return await request(await client(), limited);
    } catch (error) {
      const reason = error instanceof Unopened ? error.reason : reasonOf(error, signal);
      // The key may have been changed, in its file as well: the next request reads that anew.
      if (reason === 'unauthorized') opening = undefined;
      return failed(reason);
    }
  };
  return {
    place: placeOf(settings),
    client,
    ask,
    check: (signal) =>
      ask(signal, async (container, abortSignal) => {
        // Listing is what every role that may read or write blobs may do; the container's own properties are not.
        await container.listBlobsFlat({ abortSignal }).byPage({ maxPageSize: 1 }).next();
        return { status: 'reached' as const };
      }),
  };
}

async function clientOf(settings: ContainerSettings): Promise<ContainerClient> {
  const { connectionString, container = '', clientId, address } = settings;
  const { ContainerClient } = await import('@azure/storage-blob');
  const options = { retryOptions: { ...retryOptions } };
  const url = address?.reveal() ?? settings.containerUrl ?? '';
  if (new URLSearchParams(url.split('?')[1]).has('sig')) return new ContainerClient(url, undefined, options);
  if (connectionString !== undefined) {
    const secret = connectionString.reveal();
    try {
      return new ContainerClient(secret, container, options);
    } catch {
      // Its own error quotes what it was given.
      throw new Unopened('connection-string-invalid');
    }
  }
  const { openStorageCredential } = await import('./credential.ts');
  return new ContainerClient(url, openStorageCredential(clientId), options);
}

/** Where a container is, from what is no secret: a connection string gives away only its account's name. */
function placeOf({ containerUrl, connectionString, container, address }: ContainerSettings): string {
  const url = address?.reveal() ?? containerUrl;
  if (url === undefined) return `container ${container ?? ''} (${connectionString?.place ?? ''})`;
  if (!URL.canParse(url)) return 'an address that is none';
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
