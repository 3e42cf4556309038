// A small file that is given up when the disk is full, so that events can still be committed and settled.
import { closeSync, fsyncSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';

/** Enough for hundreds of records and their deliveries. */
export const ballastBytes = 1024 * 1024;

export interface Ballast {
  /** Gives the room back to the disk. @returns whether there was any to give */
  release(): boolean;
  /** Takes the room again, when there is plenty; quietly does without when there is not. */
  restore(): void;
}

export function openBallast(path: string, bytes: number = ballastBytes): Ballast {
  return {
    release() {
      const held = sizeOf(path) > 0;
      // An unlink needs no room; a truncation may.
      rmSync(path, { force: true });
      return held;
    },
    restore() {
      if (sizeOf(path) >= bytes || !hasPlenty(path, bytes)) return;
      try {
        fill(path, bytes);
      } catch {
        // The room went to somebody else meanwhile: a half-filled ballast would only stand in the way.
        rmSync(path, { force: true });
      }
    },
  };
}

function fill(path: string, bytes: number): void {
  const file = openSync(path, 'w', 0o600);
  try {
    // Zeros may be stored as a hole by some file systems; other bytes hold their room.
    const block = Buffer.alloc(64 * 1024, 0x5a);
    for (let written = 0; written < bytes; written += block.length) writeSync(file, block);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function hasPlenty(path: string, bytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(path.replace(/[^/\\]*$/, '') || '.');
    return bavail * bsize > 4 * bytes;
  } catch {
    return false;
  }
}
