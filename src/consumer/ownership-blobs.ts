// Keeps who owns which partition in blobs, as every SDK for Event Hubs does, so that other programs can read it too.
import { setMaxListeners } from 'node:events';
import { type BlobContainer, type ContainerSettings, openContainer } from '../blobs/container.ts';
import { type BlobFailure, type BlobReason, codeOf } from '../blobs/fault.ts';
import type { OwnershipStore } from './partition-claims.ts';

/** What a request failed with, for the one caller that asks for its name. */
class RequestFailed extends Error {
  readonly reason: BlobReason;
  constructor(reason: BlobReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Nothing is loaded or requested before the first call. @param signal ends what is under way */
export function openOwnershipBlobs(container: BlobContainer, signal: AbortSignal): OwnershipStore {
  // Several requests at once, each with its own listener.
  setMaxListeners(0, signal);
  const load = async () => {
    const { BlobCheckpointStore } = await import('@azure/eventhubs-checkpointstore-blob');
    return new BlobCheckpointStore(await container.client());
  };
  let loading: ReturnType<typeof load> | undefined;
  const store = async () => {
    loading ??= load();
    try {
      return await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
  const asked = async <Value>(request: (abortSignal: AbortSignal) => Promise<Value>): Promise<Value> => {
    const answer = await container.ask(signal, async (_client, abortSignal) => ({
      status: 'answered' as const,
      value: await request(abortSignal),
    }));
    return answered(answer);
  };
  return {
    listOwnership: (...[namespace, hub, group]) =>
      asked(async (abortSignal) => (await store()).listOwnership(namespace, hub, group, { abortSignal })),
    claimOwnership: (requests) =>
      asked(async (abortSignal) => (await store()).claimOwnership(requests, { abortSignal })),
    updateCheckpoint: (checkpoint) =>
      asked(async (abortSignal) => (await store()).updateCheckpoint(checkpoint, { abortSignal })),
    serverNow: async () =>
      answered(
        await container.ask(signal, async (client, abortSignal) => {
          // Each answer is dated; listing is what every role that may claim may do.
          const pages = client.listBlobsFlat({ abortSignal }).byPage({ maxPageSize: 1 });
          const { value } = await pages.next();
          return { status: 'answered' as const, value: value?.date?.getTime() ?? Date.now() };
        }),
      ),
    reasonOf: (error) => (error instanceof RequestFailed ? error.reason : 'unexpected'),
  };
}

function answered<Value>(
  answer: { readonly status: 'answered'; readonly value: Value } | BlobFailure,
): Value {
  if (answer.status === 'failed') throw new RequestFailed(answer.reason);
  return answer.value;
}

/**
 * Whether ownership could be written where the settings say. It changes nothing: a blob that is not there takes no
 * metadata.
 * @returns the container, and what is wrong with it; null when nothing is
 */
export async function checkOwnership(
  settings: ContainerSettings,
  signal: AbortSignal,
): Promise<{ readonly place: string; readonly fault: BlobReason | null }> {
  const container = openContainer(settings);
  const answer = await container.ask(signal, async (client, abortSignal) => {
    try {
      await client.getBlobClient('seb-check').setMetadata({ checked: 'yes' }, { abortSignal });
    } catch (error) {
      if (codeOf(error) !== 'BlobNotFound') throw error;
    }
    return { status: 'reached' as const };
  });
  return { place: container.place, fault: answer.status === 'failed' ? answer.reason : null };
}
