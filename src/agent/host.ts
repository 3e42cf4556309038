// What the machine itself can tell: which boot this is, and when the last good poll was.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { hostname, uptime } from 'node:os';
import { join } from 'node:path';

/** An id that is new after every boot of the VM. Linux says one itself; elsewhere it is made of the boot time. */
export function bootId(now: number): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    // Rounded, because both clocks are read a moment apart.
    return `${hostname()}-${Math.round((now - uptime() * 1000) / 60_000)}`;
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
  const last = readMark(path);
  let file: number | null = null;
  return {
    last,
    write(now) {
      try {
        // Overwriting the same bytes needs no room, so this works on a full disk.
        file ??= openSync(path, last === null ? 'w' : 'r+', 0o600);
        writeSync(file, String(Math.round(now)).padStart(digits, '0'), 0);
      } catch {
        // Without the mark a restart only knows less: its first poll gap is unknown.
      }
    },
    [Symbol.dispose]() {
      if (file !== null) closeSync(file);
    },
  };
}

function readMark(path: string): number | null {
  try {
    const text = readFileSync(path, 'utf8');
    return /^\d+$/.test(text) && Number(text) > 0 ? Number(text) : null;
  } catch {
    return null;
  }
}
