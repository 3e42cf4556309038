// The append-only file behind the emulator: what it acknowledged is on disk before anybody hears of it.
import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EmulatorError } from './emulator-error.ts';
import { decodePayload, encodeRecord, payloadLength, RECORD_HEAD, type StoreRecord } from './store-format.ts';

export interface StoreFile extends AsyncDisposable {
  readonly bytes: number;
  /** Writes a record and waits for the disk; throws the file system's error and then holds what it held. */
  append(record: StoreRecord): Promise<void>;
  /** Replaces the whole content, in one step. */
  rewrite(records: Iterable<StoreRecord>): Promise<void>;
}

async function readExactly(file: FileHandle, position: number, length: number): Promise<Buffer | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  return bytesRead === length ? buffer : undefined;
}

interface Located {
  readonly record: StoreRecord;
  readonly end: number;
}

/** `torn`: a crash in the middle of the last write explains it. `damaged`: nothing that we do explains it. */
type Found = Located | 'torn' | 'damaged';

/** A file system may have made room for a write without having its bytes. */
async function isZeros(file: FileHandle, position: number, size: number): Promise<boolean> {
  const rest = await readExactly(file, position, size - position);
  return rest?.every((byte) => byte === 0) ?? false;
}

async function recordAt(file: FileHandle, position: number, size: number): Promise<Found> {
  const head = await readExactly(file, position, RECORD_HEAD);
  if (head === undefined) return 'torn';
  const length = payloadLength(head);
  if (length === undefined) return (await isZeros(file, position, size)) ? 'torn' : 'damaged';
  const end = position + RECORD_HEAD + length;
  const payload = end > size ? undefined : await readExactly(file, position + RECORD_HEAD, length);
  const record = payload && decodePayload(head, payload);
  if (record !== undefined) return { record, end };
  return end >= size ? 'torn' : 'damaged';
}

/** Reads every whole record and cuts a torn one off. @returns where the next one goes */
async function replay(
  file: FileHandle,
  path: string,
  onRecord: (record: StoreRecord) => void,
): Promise<number> {
  const { size } = await file.stat();
  let position = 0;
  while (position < size) {
    const found = await recordAt(file, position, size);
    if (found === 'damaged')
      throw new EmulatorError(`${path} is damaged at byte ${position}: move it away, or give another file`);
    if (found === 'torn') break;
    onRecord(found.record);
    position = found.end;
  }
  await file.truncate(position);
  return position;
}

/** Makes a new name in a folder survive a power loss. */
async function syncFolder(path: string): Promise<void> {
  // Windows opens no folders, and keeps names in order by itself.
  if (process.platform === 'win32') return;
  await using folder = await open(dirname(path), 'r');
  await folder.sync();
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

interface Written {
  readonly file: FileHandle;
  readonly end: number;
}

async function writeNew(path: string, records: Iterable<StoreRecord>): Promise<Written> {
  await using writing = new AsyncDisposableStack();
  const file = writing.use(await open(`${path}.new`, 'w+', 0o600));
  let end = 0;
  for (const record of records) {
    const bytes = encodeRecord(record);
    await writeAll(file, bytes, end);
    end += bytes.length;
  }
  await file.sync();
  await rename(`${path}.new`, path);
  await syncFolder(path);
  writing.move();
  return { file, end };
}

async function openOrCreate(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const file = await open(path, 'wx+', 0o600);
  await syncFolder(path);
  return file;
}

/**
 * Opens the store and reads it through.
 * @param onRecord takes every record, oldest first
 * @throws EmulatorError for a store that is damaged where no crash can have damaged it; the file system's errors
 */
export async function openStoreFile(
  path: string,
  onRecord: (record: StoreRecord) => void,
): Promise<StoreFile> {
  await using opening = new AsyncDisposableStack();
  let file = opening.use(await openOrCreate(path));
  let end = await replay(file, path, onRecord);
  opening.move();
  return {
    get bytes() {
      return end;
    },
    async append(record) {
      const bytes = encodeRecord(record);
      // Always behind what is acknowledged, so that a failed write is written over.
      await writeAll(file, bytes, end);
      await file.datasync();
      end += bytes.length;
    },
    async rewrite(records) {
      const old = file;
      ({ file, end } = await writeNew(path, records));
      await old.close();
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}
