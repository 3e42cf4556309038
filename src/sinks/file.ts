// Appends records to a file, one JSON line each, and calls a record delivered once it is on the disk.
// `promises` and not 'node:fs/promises': in the bundle it is then loaded with the first record, not with the agent.
import { constants, promises as disk, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { dataPolicy, type Outcome } from '../core/delivery.ts';
import { makeDirectories } from '../directories.ts';
import { defineSink, type Sink, streamFilter } from './sink.ts';
import { openTurns } from './turns.ts';

// A disk that does not answer for so long is not answering at the moment.
const timeoutMs = 15_000;
const modeOfFile = 0o640;
const modeOfDirectory = 0o750;
const lineEnd = 0x0a;

export const file = defineSink({
  type: 'file',
  summary: 'Appends each record as a JSON line to a file.',
  settings: z.strictObject({
    path: z
      .string()
      .min(1)
      .describe('Path of the file. It and its directories are made when they are not there.'),
  }),
  filter: streamFilter,
  policy: dataPolicy,
  open: ({ path }) => openFile(path),
});

function openFile(path: string): Sink {
  const turns = openTurns(timeoutMs);
  let handle: FileHandle | null = null;

  const letGo = async (): Promise<Outcome> => {
    const closing = handle;
    handle = null;
    await closing?.close().catch(() => undefined);
    return { status: 'delivered' };
  };

  const current = async (): Promise<FileHandle> => {
    if (handle !== null && !(await isStillAt(path, handle))) await letGo();
    handle ??= await openToAppend(path);
    return handle;
  };

  const append = async (bytes: Buffer): Promise<Outcome> => {
    try {
      await appendLine(await current(), bytes);
      return { status: 'delivered' };
    } catch (error) {
      await letGo();
      return failure(error);
    }
  };

  return {
    send: ({ record, bytes }, signal) => turns.run(record.id, () => append(bytes), signal),
    check: async () => {
      const outcome = await tryOut(path);
      return outcome.status === 'delivered'
        ? { ok: true, detail: `${path} can be appended to` }
        : { ok: false, detail: `${path}: ${outcome.reason}`, reason: outcome.reason };
    },
    // At once, and not with the next record: until then a removed file would keep its room on the disk.
    reopen: () => void turns.run('', letGo, new AbortController().signal),
    [Symbol.asyncDispose]: async () => {
      await turns[Symbol.asyncDispose]();
      await letGo();
    },
  };
}

const flags = constants.O_RDWR | constants.O_APPEND;

async function openToAppend(path: string): Promise<FileHandle> {
  makeDirectories(dirname(path), modeOfDirectory);
  await refusePipe(path);
  const handle = (await newFile(path)) ?? (await disk.open(path, flags | constants.O_CREAT, modeOfFile));
  await syncDirectory(dirname(path));
  return handle;
}

/**
 * What root makes by hand, with `seb sink test`, is for the service to write to: it gets the owner of its directory.
 * O_EXCL follows no link, so nobody is given a file elsewhere by it.
 * @returns null when something is there already
 */
async function newFile(path: string): Promise<FileHandle | null> {
  try {
    const { uid, gid } = await disk.stat(dirname(path));
    const handle = await disk.open(path, flags | constants.O_CREAT | constants.O_EXCL, modeOfFile);
    if (process.getuid?.() === 0) await handle.chown(uid, gid).catch(() => undefined);
    return handle;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null;
    throw error;
  }
}

/** A pipe has no end to sync, and a full one would hold a thread of the program for ever. */
async function refusePipe(path: string): Promise<void> {
  if ((await disk.stat(path).catch(() => null))?.isFIFO()) throw new Error('a pipe keeps no records');
}

/** Makes the name of a new file as durable as its content. Not every system knows how: then nothing is lost by it. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await disk.open(path, constants.O_RDONLY).catch(() => null);
  await directory?.sync().catch(() => undefined);
  await directory?.close();
}

/** Whether the path still leads to the open file: log rotation renames or removes it. */
async function isStillAt(path: string, handle: FileHandle): Promise<boolean> {
  const there = await disk.stat(path).catch(() => null);
  if (there === null) return false;
  const ours = await handle.stat();
  return ours.ino === there.ino && ours.dev === there.dev;
}

async function appendLine(handle: FileHandle, bytes: Buffer): Promise<void> {
  const before = await handle.stat();
  const torn = await endsTorn(handle, before);
  const line = Buffer.concat([...(torn ? [Buffer.of(lineEnd)] : []), bytes, Buffer.of(lineEnd)]);
  try {
    await handle.appendFile(line);
    await handle.datasync();
  } catch (error) {
    // Half a line helps nobody and takes room on a disk that may be full. Where it cannot be taken back,
    // the next line starts on a line of its own.
    await handle.truncate(before.size).catch(() => undefined);
    throw error;
  }
}

/** A crash may have left half a line at the end: it must never merge with the next record. */
async function endsTorn(handle: FileHandle, { size }: Stats): Promise<boolean> {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  const { bytesRead } = await handle.read(last, 0, 1, size - 1);
  return bytesRead === 1 && last[0] !== lineEnd;
}

/** Whether the file could be appended to, or made; makes nothing. */
async function tryOut(path: string): Promise<Outcome> {
  try {
    await refusePipe(path);
    const handle = await disk.open(path, flags);
    await handle.close();
    return { status: 'delivered' };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return failure(error);
    return await tryDirectory(dirname(path));
  }
}

async function tryDirectory(path: string): Promise<Outcome> {
  try {
    if (!(await disk.stat(path)).isDirectory()) return failure(null);
    await disk.access(path, constants.W_OK | constants.X_OK);
    return { status: 'delivered' };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(path) !== path;
    return isMissing ? await tryDirectory(dirname(path)) : failure(error);
  }
}

const fullCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const passingCodes: readonly string[] = ['EMFILE', 'ENFILE', 'EIO', 'EAGAIN', 'EBUSY', 'ESTALE', 'ENOMEM'];

function failure(error: unknown): Outcome {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  if (fullCodes.includes(code)) return { status: 'retryable', reason: 'disk-full' };
  if (passingCodes.includes(code)) return { status: 'retryable', reason: 'file-unwritable' };
  return { status: 'unavailable', reason: 'file-unwritable' };
}
