// What the machine itself can tell: which boot this is, and when the last good poll was.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { join } from 'node:path';
import type { Boot } from '../core/impact.ts';

/**
 * Which boot of the VM this is, with an id that is new after every one. Linux says one itself; elsewhere it is made of
 * the boot's moment.
 * @param now epoch ms
 */
export function readBoot(now: number): Boot {
  const startedAt = now - uptime() * 1000;
  try {
    return { id: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), startedAt, told: true };
  } catch {
    // Rounded, because both clocks are read a moment apart.
    return { id: `${hostname()}-${Math.round(startedAt / 60_000)}`, startedAt, told: false };
  }
}

/** A file of one short line that is written again and again: always at the same length, in the same place. */
export interface Line extends Disposable {
  /** Never flushed: the system writes it to the disk when it comes to it. */
  write(text: string): void;
}

/**
 * @param isFresh whether nothing is there yet that is worth keeping. Otherwise the same bytes are written over, which
 * needs no room: it works on a full disk.
 */
export function openLine(path: string, isFresh: boolean): Line {
  let file: number | null = null;
  return {
    write(text) {
      try {
        file ??= openSync(path, isFresh ? 'w' : 'r+', 0o600);
        writeSync(file, text, 0);
      } catch {
        // Such a line is a hint for the next run; without it that run only knows less.
      }
    },
    [Symbol.dispose]() {
      if (file !== null) closeSync(file);
    },
  };
}

/** What `openLine` wrote there; null when nothing can be read. */
export function readLine(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/**
 * The time of the last good poll, kept over a restart of the process. It is written every second, so it is never
 * flushed: what a power cut loses of it, the new boot id says better.
 */
export interface PollMark extends Disposable {
  /** Epoch ms; null when no agent polled here before. */
  readonly last: number | null;
  write(now: number): void;
}

const digits = 16;

export function openPollMark(directory: string): PollMark {
  const path = join(directory, 'last-poll');
  const text = readLine(path) ?? '';
  const last = /^\d+$/.test(text) && Number(text) > 0 ? Number(text) : null;
  const line = openLine(path, last === null);
  return {
    last,
    write: (now) => line.write(String(Math.round(now)).padStart(digits, '0')),
    [Symbol.dispose]: () => line[Symbol.dispose](),
  };
}
