// Keeps signed heads in a file that is only added to, such as one on another disk or on a share of somebody else's.
// `promises` and not 'node:fs/promises': in the bundle it is then loaded with the first head.
import { constants, promises as disk } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { listedNote } from '../../core/note-list.ts';
import { makeDirectories } from '../../directories.ts';
import { type Anchor, type AnchorPut, type AnchorRead, type AnchorSettings, failedAnchor } from './anchor.ts';
import { newestNote } from './newest-note.ts';

const modeOfFile = 0o640;
const modeOfDirectory = 0o750;
// O_APPEND alone: a file that the system lets nobody change but at its end (chattr +a) takes it as well.
const appending = constants.O_RDWR | constants.O_APPEND;

export function openFileAnchor({ path: given = '' }: AnchorSettings): Anchor {
  const path = resolve(given);
  return {
    place: path,
    put: (_, note) => tried(() => put(path, note)),
    newest: (origin) => tried(() => newest(path, origin)),
    check: () => check(path),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

/** Opened anew each time: the disk may have been unmounted, and mounted again, in between. */
async function put(path: string, note: string): Promise<AnchorPut> {
  makeDirectories(dirname(path), modeOfDirectory);
  await refuseOthers(path);
  await using handle = await disk.open(path, appending | constants.O_CREAT, modeOfFile);
  const { size } = await handle.stat();
  await handle.appendFile((await gapBehind(handle, size)) + listedNote(note));
  await handle.sync();
  if (size === 0) await syncDirectory(dirname(path));
  return { status: 'anchored', reference: null };
}

/** A crash may have left half a note at the end: an empty line keeps it apart from what follows. */
async function gapBehind(handle: FileHandle, size: number): Promise<string> {
  if (size === 0) return '';
  const last = Buffer.alloc(Math.min(size, 2));
  await handle.read(last, 0, last.length, size - last.length);
  if (last.toString('latin1') === '\n\n') return '';
  return last.at(-1) === 0x0a ? '\n' : '\n\n';
}

async function newest(path: string, origin: string): Promise<AnchorRead> {
  await refuseOthers(path);
  const opened = await disk.open(path, constants.O_RDONLY).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (opened === null) return { status: 'known', note: null };
  await using handle = opened;
  const { size } = await handle.stat();
  const read = async (from: number, length: number): Promise<Buffer> => {
    const part = Buffer.alloc(length);
    const { bytesRead } = await handle.read(part, 0, length, from);
    return part.subarray(0, bytesRead);
  };
  return { status: 'known', note: await newestNote(size, read, origin) };
}

/** A pipe or a device keeps nothing, and may hold a thread of the program for ever. */
async function refuseOthers(path: string): Promise<void> {
  const there = await disk.stat(path).catch(() => null);
  if (there !== null && !there.isFile()) throw Object.assign(new Error('no file'), { code: 'EFTYPE' });
}

/** Makes the name of a new file as durable as its content; not every system knows how. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await disk.open(path, constants.O_RDONLY).catch(() => null);
  await directory?.sync().catch(() => undefined);
  await directory?.close();
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'unauthorized',
  EPERM: 'unauthorized',
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EFBIG: 'disk-full',
  EROFS: 'read-only',
  EEXIST: 'no-file',
  EFTYPE: 'no-file',
  EISDIR: 'no-file',
  ENOTDIR: 'no-file',
};

const reasonOf = (error: unknown): string =>
  reasons[String((error as NodeJS.ErrnoException).code)] ?? 'file-unwritable';

async function tried<Result>(work: () => Promise<Result>) {
  try {
    return await work();
  } catch (error) {
    return failedAnchor(reasonOf(error));
  }
}

/** Opens the file as `put` does and writes nothing; where there is none, its directory must take one. */
async function check(path: string): Promise<{ readonly ok: boolean; readonly detail: string }> {
  try {
    await refuseOthers(path);
    await (await disk.open(path, appending)).close();
    return { ok: true, detail: `${path} can be added to; nothing was written` };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return refused(path, error);
    return await checkDirectory(path, dirname(path));
  }
}

async function checkDirectory(
  path: string,
  directory: string,
): Promise<{ readonly ok: boolean; readonly detail: string }> {
  try {
    await disk.access(directory, constants.W_OK | constants.X_OK);
    return { ok: true, detail: `${path} will be made; its directory takes files` };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(directory) !== directory;
    return isMissing ? await checkDirectory(path, dirname(directory)) : refused(path, error);
  }
}

const refused = (path: string, error: unknown) => ({ ok: false, detail: `${path}: ${reasonOf(error)}` });
