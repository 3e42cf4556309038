// Keeps a copy's files as append blobs of a container.
import { type AppendBlobs, openAppendBlobs } from '../../blobs/append-blobs.ts';
import type { BlobContainer } from '../../blobs/container.ts';
import type { ArchiveFiles } from './files.ts';

/** The files of a copy in a container. */
export function openBlobFiles(container: BlobContainer): ArchiveFiles {
  const blobs: AppendBlobs = openAppendBlobs(container);
  return {
    place: blobs.place,
    append: (name, bytes, at, signal) => blobs.append(name, bytes, at, signal),
    read: (name, from, lengthMax, signal) => blobs.read(name, from, lengthMax, signal),
    blocks: async (name, signal) => {
      const found = await blobs.properties(name, signal);
      if (found.status === 'failed') return found;
      return { status: 'known', blocks: found.status === 'known' ? found.blocks : 0 };
    },
    list: async (prefix, signal) => {
      const found = await blobs.list(prefix, signal);
      return found.status === 'failed' ? found : { status: 'listed', files: found.blobs };
    },
    // The SDK's sockets end by themselves when nobody uses them.
    [Symbol.asyncDispose]: async () => undefined,
  };
}
