// Keeps the last tick on the disk, so that the next run knows when this one ended, and how.
import { join } from 'node:path';
import { type LastTick, tickIntervalMs } from '../../core/impact.ts';
import { openLine, readLine } from '../host.ts';

export interface TickMark extends Disposable {
  /** As an earlier run left it; null when none did. */
  readonly last: LastTick | null;
  /** @param now epoch ms @param isNear an event may be under way: the disk itself has to know it soon */
  write(now: number, isNear: boolean): void;
  /** Says that the run ends by itself. */
  leave(now: number): void;
}

const flushIntervalMs = 1_000;
// From the beginning of one flush to the end of the next, on a disk that takes a second for each.
const flushedStaleMs = 3_000;
// Linux writes by itself what is older than 30 s, and looks every 5: vm.dirty_expire_centisecs, vm.dirty_writeback_centisecs.
const unflushedStaleMs = 40_000;

const form = /^(\d{16}) (\d{5}) (\d{5}) (ended|ticks)\n$/;

export function openTickMark(directory: string): TickMark {
  const path = join(directory, 'last-tick');
  const last = readTick(readLine(path) ?? '');
  const line = openLine(path, last === null);
  let flushedAt = Number.NEGATIVE_INFINITY;
  return {
    last,
    write(now, isNear) {
      line.write(lineOf(now, isNear, 'ticks'));
      // Also when the clock was set back.
      if (!isNear || Math.abs(now - flushedAt) < flushIntervalMs) return;
      flushedAt = now;
      line.flush();
    },
    leave: (now) => line.write(lineOf(now, false, 'ended')),
    [Symbol.dispose]: () => line[Symbol.dispose](),
  };
}

function lineOf(now: number, isNear: boolean, state: 'ended' | 'ticks'): string {
  const plannedMs = isNear ? tickIntervalMs.near : tickIntervalMs.far;
  const staleMs = isNear ? flushedStaleMs : unflushedStaleMs;
  const [at, planned, stale] = [
    [Math.round(now), 16] as const,
    [plannedMs, 5] as const,
    [staleMs, 5] as const,
  ].map(([value, digits]) => String(value).padStart(digits, '0'));
  return `${at} ${planned} ${stale} ${state}\n`;
}

function readTick(text: string): LastTick | null {
  const [, at, plannedMs, staleMs, state] = form.exec(text) ?? [];
  // Beyond that there are no dates: https://tc39.es/ecma262/#sec-time-values-and-time-range.
  if (at === undefined || Number(at) > 8.64e15) return null;
  return {
    at: Number(at),
    plannedMs: Number(plannedMs),
    staleMs: Number(staleMs),
    orderly: state === 'ended',
  };
}
