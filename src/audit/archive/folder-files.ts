// Keeps a copy's files in a folder: on the disk when `append` says so, and whole again after a crash.
import { promises as disk } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDirectories } from '../../directories.ts';
import type { ArchiveFiles, FileAppend, FilesFailure, FilesReason, ListedFile } from './files.ts';
import { type FolderLock, lockName, openFolderLock } from './folder-lock.ts';
import { wholeLength } from './whole.ts';

const modeOfFile = 0o640;
const modeOfDirectory = 0o750;
const lockMsMax = 10_000;
const lockMs = 10;

/** The files of a copy in a folder; nothing is made before the first append. */
export function openFolderFiles(root: string): ArchiveFiles {
  let lock: FolderLock | null = null;
  const locked = async (work: () => Promise<FileAppend>, signal: AbortSignal): Promise<FileAppend> => {
    makeDirectories(root, modeOfDirectory);
    lock ??= openFolderLock(root);
    for (let waitedMs = 0; !lock.take(); waitedMs += lockMs) {
      if (waitedMs >= lockMsMax) return { status: 'failed', reason: 'locked' };
      await delay(lockMs, undefined, { signal });
    }
    try {
      return await work();
    } finally {
      lock.release();
    }
  };
  return {
    place: root,
    append: (name, bytes, at, signal) =>
      guarded(signal, () => locked(() => append(join(root, name), bytes, at), signal)),
    read: (name, from, lengthMax, signal) => guarded(signal, () => read(join(root, name), from, lengthMax)),
    blocks: async () => ({ status: 'known', blocks: 0 }),
    list: (prefix, signal) => guarded(signal, () => list(root, prefix, signal)),
    [Symbol.asyncDispose]: async () => lock?.[Symbol.dispose](),
  };
}

const reasons: Readonly<Record<string, FilesReason>> = {
  EACCES: 'unauthorized',
  EDQUOT: 'disk-full',
  EFBIG: 'disk-full',
  ENOSPC: 'disk-full',
  // Something above it is a file.
  EEXIST: 'not-found',
  ENOTDIR: 'not-found',
  EPERM: 'unauthorized',
  EROFS: 'read-only',
};

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code);

async function guarded<Answer>(
  signal: AbortSignal,
  work: () => Promise<Answer>,
): Promise<Answer | FilesFailure> {
  if (signal.aborted) return { status: 'failed', reason: 'aborted' };
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return { status: 'failed', reason: 'aborted' };
    return { status: 'failed', reason: reasons[codeOf(error)] ?? 'unexpected' };
  }
}

async function append(path: string, bytes: Uint8Array, at: number): Promise<FileAppend> {
  const found = await disk.stat(path).catch(missing);
  if (found === null && at > 0) return { status: 'moved', length: 0 };
  if (found === null) makeDirectories(dirname(path), modeOfDirectory);
  await using handle = await disk.open(path, 'a+', modeOfFile);
  const length = await wholeOf(path, handle, at);
  if (length !== at) return { status: 'moved', length };
  await handle.truncate(at);
  try {
    await handle.appendFile(bytes);
    await handle.datasync();
  } catch (error) {
    // A disk that is full may have taken a part of it.
    await handle.truncate(at).catch(() => undefined);
    throw error;
  }
  // Also where somebody else made the file and died before its name was on the disk.
  if (at === 0) await syncAbove(path);
  return { status: 'appended', length: at + bytes.length, blocks: 0 };
}

function missing(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

const endLength = 64 * 1024;

/** Where what is whole of the file ends: what the last writer was about to write when it died does not count. */
async function wholeOf(path: string, handle: FileHandle, at: number): Promise<number> {
  const { size } = await handle.stat();
  if (size === at) return at;
  for (let length = endLength; ; length *= 4) {
    const from = Math.max(size - length, 0);
    const end = Buffer.alloc(size - from);
    const { bytesRead } = await handle.read(end, 0, end.length, from);
    const whole = wholeLength(path, end.subarray(0, bytesRead));
    if (whole !== null) return from + whole;
    if (from === 0) return 0;
  }
}

/** Makes the names of a new file and its folders as durable as its content. Not every system knows how. */
async function syncAbove(path: string): Promise<void> {
  // Year, month, day and the parts of the stream's name; what is above them is older.
  let folder = dirname(path);
  for (let level = 0; level < 8 && folder !== dirname(folder); level += 1, folder = dirname(folder)) {
    const directory = await disk.open(folder, 'r').catch(() => null);
    await directory?.sync().catch(() => undefined);
    await directory?.close();
  }
}

async function read(path: string, from: number, lengthMax: number) {
  const handle = await disk.open(path, 'r').catch(missing);
  if (handle === null) return { status: 'missing' as const };
  try {
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(Math.max(Math.min(lengthMax, size - from), 0));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, from);
    return { status: 'read' as const, bytes: bytes.subarray(0, bytesRead) };
  } finally {
    await handle.close();
  }
}

async function list(root: string, prefix: string, signal: AbortSignal) {
  const files: ListedFile[] = [];
  const walk = async (folder: string): Promise<void> => {
    signal.throwIfAborted();
    const found = await disk.readdir(folder).catch(missing);
    for (const name of found ?? []) {
      const path = join(folder, name);
      const there = await disk.stat(path).catch(missing);
      if (there?.isDirectory()) await walk(path);
      else if (path !== join(root, lockName))
        files.push({ name: relative(root, path).replaceAll(sep, '/'), length: there?.size ?? 0 });
    }
  };
  await walk(join(root, prefix));
  files.sort((one, other) => (one.name < other.name ? -1 : 1));
  return { status: 'listed' as const, files };
}
