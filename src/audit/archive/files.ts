// The contract of where a copy is kept: files that only grow, each at a place that its writer knows.
import type { BlobReason } from '../../blobs/fault.ts';

/** Why the files of a copy cannot be reached or written: a closed list. */
export type FilesReason = BlobReason | 'disk-full' | 'read-only' | 'locked';

export interface FilesFailure {
  readonly status: 'failed';
  readonly reason: FilesReason;
}

export type FileAppend =
  /** `blocks`: how many appends it is made of, where the store counts them; else 0. */
  | { readonly status: 'appended'; readonly length: number; readonly blocks: number }
  /** It does not end at `at`: nothing was written, and this is where what is whole of it ends now. */
  | { readonly status: 'moved'; readonly length: number }
  /** It takes nothing more: go on in another file. */
  | { readonly status: 'full' }
  | FilesFailure;

export interface ListedFile {
  /** From the copy's root, with `/`. */
  readonly name: string;
  /** Bytes. */
  readonly length: number;
}

/** Files of a copy in a folder or a container. All of it or none is written, and what `append` says to stand, stands. */
export interface ArchiveFiles extends AsyncDisposable {
  /** Where they are, for a sentence, without a secret. */
  readonly place: string;
  /** Makes the file when `at` is 0 and there is none. Half a line or note that a crash left behind is cut off. */
  append(name: string, bytes: Uint8Array, at: number, signal: AbortSignal): Promise<FileAppend>;
  /** Up to `lengthMax` bytes, fewer at the end of the file. */
  read(
    name: string,
    from: number,
    lengthMax: number,
    signal: AbortSignal,
  ): Promise<
    { readonly status: 'read'; readonly bytes: Uint8Array } | { readonly status: 'missing' } | FilesFailure
  >;
  /** How many appends a file is made of, where the store counts them; else 0. */
  blocks(
    name: string,
    signal: AbortSignal,
  ): Promise<{ readonly status: 'known'; readonly blocks: number } | FilesFailure>;
  /** What begins with a prefix, which is empty or ends with `/`, by name. */
  list(
    prefix: string,
    signal: AbortSignal,
  ): Promise<{ readonly status: 'listed'; readonly files: readonly ListedFile[] } | FilesFailure>;
}

/** What one append should not exceed, unless a single line does. */
export const appendLength = 1024 * 1024;
