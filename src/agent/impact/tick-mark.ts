// Keeps the last tick on the disk, so that the next run knows when this one ended, and how.
import { join } from 'node:path';
import type { LastTick } from '../../core/impact.ts';
import { openLine, readLine } from '../host.ts';

export interface TickMark extends Disposable {
  /** As an earlier run left it; null when none did. */
  readonly last: LastTick | null;
  /** @param now epoch ms @param plannedMs until the next one */
  write(now: number, plannedMs: number): void;
  /** Says that the run ends by itself. */
  leave(now: number): void;
}

// Linux brings to the disk what is older than 30 s, and looks every 5 s: `dirty_expire_centisecs` and
// `dirty_writeback_centisecs` in https://docs.kernel.org/admin-guide/sysctl/vm.html. Flushing four times a second
// would cost the VM more than a sharper lower bound is worth.
const staleMs = 40_000;

const form = /^(\d{16}) (\d{5}) (ended|ticks)\n$/;

export function openTickMark(directory: string): TickMark {
  const path = join(directory, 'last-tick');
  const last = readTick(readLine(path) ?? '');
  const line = openLine(path, last === null);
  return {
    last,
    write: (now, plannedMs) => line.write(lineOf(now, plannedMs, 'ticks')),
    leave: (now) => line.write(lineOf(now, 0, 'ended')),
    [Symbol.dispose]: () => line[Symbol.dispose](),
  };
}

const lineOf = (now: number, plannedMs: number, state: 'ended' | 'ticks'): string =>
  `${padded(now, 16)} ${padded(plannedMs, 5)} ${state}\n`;

const padded = (value: number, digits: number): string => String(Math.round(value)).padStart(digits, '0');

function readTick(text: string): LastTick | null {
  const [, at, plannedMs, state] = form.exec(text) ?? [];
  // Beyond that there are no dates: https://tc39.es/ecma262/#sec-time-values-and-time-range.
  if (at === undefined || Number(at) > 8.64e15) return null;
  return {
    at: Number(at),
    plannedMs: Number(plannedMs),
    staleMs,
    orderly: state === 'ended',
  };
}
