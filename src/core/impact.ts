// Measures by ticks what a VM felt of an event: pauses and reboots between bounds that hold, or nothing.
import type { Bounds, ImpactData, Told } from './deed.ts';
import { isStarted, type ScheduledEvent } from './document.ts';
import type { Sighting } from './watch.ts';

/** A moment at which the agent ran. */
export interface Tick {
  /** Epoch ms, by the wall clock. */
  readonly at: number;
  /** Ms, by a clock that nobody sets. */
  readonly monotonicMs: number;
}

/** The last tick of an earlier run, as it is found on the disk. */
export interface LastTick {
  /** Epoch ms. */
  readonly at: number;
  /** After how many ms the next one would have come. */
  readonly plannedMs: number;
  /** By how many ms the disk may be behind, when the power went. */
  readonly staleMs: number;
  /** The run came to an end of its own: what went on after that, nobody saw. */
  readonly orderly: boolean;
}

/** One life of the operating system. */
export interface Boot {
  readonly id: string;
  /** Epoch ms at which the kernel began, by the wall clock. */
  readonly startedAt: number;
  /** The kernel itself says the id; otherwise it is made of the moment, and may waver. */
  readonly told: boolean;
}

export interface FeltPause extends Bounds {
  /** Epoch ms of the last tick before it. */
  readonly at: number;
}

export interface FeltReboot {
  /** Epoch ms, both. */
  readonly lastTickAt: number;
  readonly firstTickAt: number;
  readonly bootIdBefore: string;
  readonly bootIdAfter: string;
  /** Null when the clocks before and after contradict each other. */
  readonly bounds: Bounds | null;
}

/** What was felt in some stretch of time. */
export interface Felt {
  /** In the order of time; the longest ones when there are many. */
  readonly pauses: readonly FeltPause[];
  /** The longest time without a tick that passes for ordinary: what is hidden in it is no longer than this. */
  readonly quietMs: number;
  /** The longest time without an agent; null when it is not known how long. */
  readonly awayMs: number | null;
  /** The longest one. */
  readonly reboot: FeltReboot | null;
}

/** How long the agent sleeps between two ticks: while the event may be under way, and while it surely is not. */
export const tickIntervalMs = { near: 250, far: 1_000 } as const;

/** A tick that is late by no more than this is late for reasons of every day: it tells of no pause. */
export const ordinaryDelayMs = 500;

// An agent that restarts is away for about this long.
const shortAbsenceMs = 3_000;
const nearMs = 120_000;
const pausesMax = 20;
// How far off a boot id may be that is made of the boot's moment.
const waverMs = 60_000;

/** Nothing, in a time that was watched throughout. */
export const nothingFelt: Felt = { pauses: [], quietMs: 0, awayMs: 0, reboot: null };

/** Whether the event may be under way at `now`, or within 2 minutes: it begun, was approved, is due, or is out of sight. */
export function isNear({ event, approved, notBefore, absence, hidden }: Sighting, now: number): boolean {
  if (isStarted(event) || approved || absence !== undefined || hidden === true) return true;
  return notBefore === null || now >= Date.parse(notBefore) - nearMs;
}

/**
 * What the time between two ticks of one run adds.
 *
 * A pause began after the first tick and was over at the second, so it is no longer than the time between them. The
 * agent slept for `plannedMs` of that at most, and is late by `ordinaryDelayMs` at most: what is left was a pause.
 * Only the clock that nobody sets counts for the lower bound. A wall clock that gains on it was set, or stood still with
 * the whole VM and was put right afterwards: nobody can tell which, so it counts for the upper bound alone.
 * @param plannedMs how long the agent wanted to sleep
 */
export function feelGap(felt: Felt, before: Tick, after: Tick, plannedMs: number): Felt {
  const monotonicMs = after.monotonicMs - before.monotonicMs;
  const upperMs = Math.ceil(Math.max(after.at - before.at, monotonicMs, 0));
  const ordinaryMs = plannedMs + ordinaryDelayMs;
  if (upperMs <= ordinaryMs) return { ...felt, quietMs: Math.max(felt.quietMs, upperMs) };
  const lowerMs = Math.max(Math.floor(monotonicMs - ordinaryMs), 0);
  return withPauses(felt, [{ at: before.at, lowerMs, upperMs }]);
}

/** What the time between two runs adds. @param firstAt epoch ms of the first tick after it */
export function feelRestart(
  felt: Felt,
  last: LastTick,
  firstAt: number,
  boots: { readonly bootIdBefore: string; readonly boot: Boot },
): Felt {
  const { boot, bootIdBefore } = boots;
  const spentMs = firstAt - last.at;
  const isSameBoot =
    boot.id === bootIdBefore || (!boot.told && boot.startedAt + waverMs < Math.min(last.at, firstAt));
  // What an earlier run took for ordinary was not kept.
  const quietMs = Math.max(felt.quietMs, tickIntervalMs.far + ordinaryDelayMs);
  if (isSameBoot) {
    return { ...felt, quietMs, awayMs: longerAbsence(felt.awayMs, spentMs < 0 ? null : spentMs) };
  }
  const reboot: FeltReboot = {
    lastTickAt: last.at,
    firstTickAt: firstAt,
    bootIdBefore,
    bootIdAfter: boot.id,
    bounds: spentMs < 0 ? null : { lowerMs: surelyDownMs(last, boot, spentMs), upperMs: spentMs },
  };
  return { ...felt, quietMs, reboot: longerReboot(felt.reboot, reboot) };
}

// An agent that was stopped did not see how long the VM went on; one that ticked until the end did.
function surelyDownMs(last: LastTick, boot: Boot, spentMs: number): number {
  if (last.orderly) return 0;
  const downMs = boot.startedAt - last.at - last.plannedMs - ordinaryDelayMs - last.staleMs;
  return Math.min(Math.max(Math.floor(downMs), 0), spentMs);
}

/** What was felt in two stretches of time, one after the other. */
export function joinFelt(earlier: Felt, later: Felt): Felt {
  const joined = {
    ...earlier,
    quietMs: Math.max(earlier.quietMs, later.quietMs),
    awayMs: longerAbsence(earlier.awayMs, later.awayMs),
    reboot: longerReboot(earlier.reboot, later.reboot),
  };
  return later.pauses.length === 0 ? joined : withPauses(joined, later.pauses);
}

/** Adds pauses. Of many the ones with the highest lower bounds stay; how long the others may have been stays known. */
function withPauses(felt: Felt, more: readonly FeltPause[]): Felt {
  const byLength = [...felt.pauses, ...more].toSorted(
    (one, other) => other.lowerMs - one.lowerMs || other.upperMs - one.upperMs,
  );
  const dropped = byLength.slice(pausesMax).map(({ upperMs }) => upperMs);
  return {
    ...felt,
    pauses: byLength.slice(0, pausesMax).toSorted((one, other) => one.at - other.at),
    quietMs: Math.max(felt.quietMs, ...dropped),
  };
}

const longerAbsence = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : Math.max(one, other);

function longerReboot(one: FeltReboot | null, other: FeltReboot | null): FeltReboot | null {
  if (one === null || other === null) return one ?? other;
  return (other.bounds?.upperMs ?? 0) > (one.bounds?.upperMs ?? 0) ? other : one;
}

/** Whether something was felt for sure: a lower bound above nothing, or another boot. */
export const isSurelyFelt = ({ pauses, reboot }: Felt): boolean =>
  reboot !== null || pauses.some(({ lowerMs }) => lowerMs > 0);

/** What it comes to: the reboot, or else the longest pause, between bounds that hold for the whole time. */
export function summaryOf(felt: Felt): Pick<ImpactData, 'kind' | 'measured'> {
  const { pauses, quietMs, awayMs, reboot } = felt;
  if (reboot !== null) return { kind: 'reboot', measured: reboot.bounds };
  if (pauses.length === 0 && (awayMs === null || awayMs > shortAbsenceMs)) {
    return { kind: 'unknown', measured: null };
  }
  const kind = pauses.length === 0 ? 'none' : 'pause';
  // Away without knowing for how long: there is no upper bound.
  if (awayMs === null) return { kind, measured: null };
  return {
    kind,
    measured: {
      lowerMs: Math.max(0, ...pauses.map(({ lowerMs }) => lowerMs)),
      upperMs: Math.max(quietMs, awayMs, ...pauses.map(({ upperMs }) => upperMs)),
    },
  };
}

/** Where the VM is, as far as it can know. Null where it does not. */
export interface Place {
  readonly faultDomain: string | null;
  /** Names the temporary disk; another disk has another name. */
  readonly temporaryDisk: string | null;
}

/** What is known about one event's impact so far. */
export interface Measurement {
  /** Epoch ms since when it was watched. */
  readonly from: number;
  readonly felt: Felt;
  /** As it was when the event was first seen. */
  readonly place: Place;
}

/** What the record of an impact says. @param end when the watching ended, epoch ms, and where the VM is then */
export function impactOf(
  event: ScheduledEvent,
  { from, felt, place }: Measurement,
  end: { readonly at: number; readonly place: Place },
): Told<ImpactData> {
  const [before, after] = [place.temporaryDisk, end.place.temporaryDisk];
  return {
    event,
    ...summaryOf(felt),
    advertisedSeconds: event.durationSeconds,
    window: { from: iso(from), to: iso(end.at) },
    pauses: felt.pauses.map((pause) => ({ ...pause, at: iso(pause.at) })),
    reboot: felt.reboot && rebootOf(felt.reboot),
    moved: {
      temporaryDisk: before === null || after === null ? 'unknown' : before === after ? 'kept' : 'gone',
      faultDomain: { before: place.faultDomain, after: end.place.faultDomain },
    },
  };
}

const rebootOf = ({ lastTickAt, firstTickAt, bootIdBefore, bootIdAfter }: FeltReboot) => ({
  lastTickAt: iso(lastTickAt),
  firstTickAt: iso(firstTickAt),
  bootIdBefore,
  bootIdAfter,
});

const iso = (at: number): string => new Date(at).toISOString();
