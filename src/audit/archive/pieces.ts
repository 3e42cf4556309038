// Reads a file of a copy in pieces that are whole: lines or signed notes, up to the length it had at one moment.
import { setTimeout as delay } from 'node:timers/promises';
import { TrailUnusable } from '../store.ts';
import type { ArchiveFiles, FilesFailure, FilesReason } from './files.ts';
import { wholeLength } from './whole.ts';

/** A file and how long it was. */
export interface ReadFile {
  readonly name: string;
  readonly length: number;
}

/** A part of a file, from its beginning on. */
export interface Piece {
  readonly bytes: Buffer;
  /** `whole`: it ends where a line or a note does. `torn`: it is the rest of the file, and does not. */
  readonly kind: 'whole' | 'torn' | 'endless';
}

const rangeLength = 1024 * 1024;
const lineEnd = 0x0a;

/** @throws TrailUnusable when the file cannot be read */
export async function* readPieces(
  files: ArchiveFiles,
  { name, length }: ReadFile,
  { pieceMax, signal }: { readonly pieceMax: number; readonly signal: AbortSignal },
): AsyncGenerator<Piece> {
  // Nothing whole ends in these: a long line is put together once, when its end is there.
  let parts: Buffer[] = [];
  let waiting = 0;
  for (let at = 0; at < length; ) {
    const read = await files.read(name, at, Math.min(rangeLength, length - at), signal);
    if (read.status === 'failed') throw unreadable(files, read);
    // Somebody took it away, or a part of it, since it was listed.
    if (read.status === 'missing' || read.bytes.length === 0) break;
    at += read.bytes.length;
    parts.push(Buffer.from(read.bytes));
    waiting += read.bytes.length;
    if (!read.bytes.includes(lineEnd) && waiting <= pieceMax) continue;
    const rest = Buffer.concat(parts);
    const whole = wholeLength(name, rest);
    if (whole !== null) yield { bytes: rest.subarray(0, whole), kind: 'whole' };
    else if (waiting > pieceMax) yield { bytes: rest, kind: 'endless' };
    const isEndless = whole === null && waiting > pieceMax;
    parts = isEndless ? [] : [rest.subarray(whole ?? 0)];
    waiting = isEndless ? 0 : rest.length - (whole ?? 0);
  }
  if (waiting > 0) yield { bytes: Buffer.concat(parts), kind: 'torn' };
}

/** What whoever reads can do; what is not named here passes by itself, or is said by its name. */
const advice: Partial<Record<FilesReason, string>> = {
  'credential-unavailable': '; sign in, or give an address with a signature',
  'not-found': '; there is no such container or folder',
  unauthorized: '; whoever reads needs the right to list and to read there',
  unexpected: '; see whether the address is that of a container, with https',
  unreachable: '; see whether this machine can reach it',
};

/** The sentence for a copy that cannot be read at all. */
export const unreadable = ({ place }: ArchiveFiles, { reason }: FilesFailure): TrailUnusable =>
  new TrailUnusable(`the copy of the trail in ${place} cannot be read (${reason})${advice[reason] ?? ''}`);

const looks = 5;
const lookMs = 100;

/** Whether a line that has no end yet gets one: then a writer is at work, and the line is newer than our moment. */
export async function isGrowing(
  files: ArchiveFiles,
  { name, length }: ReadFile,
  signal: AbortSignal,
): Promise<boolean> {
  for (let look = 0; look < looks; look += 1) {
    const read = await files.read(name, length, rangeLength, signal);
    if (read.status === 'read' && read.bytes.includes(lineEnd)) return true;
    await delay(lookMs);
  }
  return false;
}
