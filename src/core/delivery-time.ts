// When what waits is due, too old, or to be put off again, although clocks are set and VMs are frozen.
import { type DeliveryPolicy, dataPolicy, retryAfterMsMax } from './delivery.ts';

/** A delivery that waits, as far as its age matters. */
export interface Waiting {
  /** How often it was tried. */
  readonly attempts: number;
  /** Epoch ms from which its age counts: the commit of its record, or when a person asked for it again. */
  readonly queuedAt: number;
  /** Whether its sink is paused or suspended. */
  readonly resting: boolean;
}

/**
 * When a delivery is too old for another attempt, epoch ms: it dies then as `expired`. One that was never tried has
 * no such time while its sink works: that the VM was off is no reason to say nothing.
 */
export function expiresAt({ attempts, queuedAt, resting }: Waiting, policy: DeliveryPolicy): number {
  return attempts > 0 || resting ? queuedAt + policy.ageMsMax : Number.POSITIVE_INFINITY;
}

// Twice the longest wait that a rule makes of itself: a clock may also be set by a little.
const ownWaitMsMax = 2 * dataPolicy.probeIntervalMs;

/**
 * The due time, unless no rule can have asked for it: then the clock ran ahead when it was written, and it is now.
 * @param dueAt as a verdict has it, epoch ms
 * @param pausedUntil what the receiver asked for, epoch ms; 0 = nothing
 */
export function credibleDueAt(dueAt: number, pausedUntil: number, now: number): number {
  const askedUntil = pausedUntil - now > retryAfterMsMax ? 0 : pausedUntil;
  return dueAt > Math.max(now + ownWaitMsMax, askedUntil + dataPolicy.delayMsMax) ? now : dueAt;
}

/**
 * Whether a wait lasted so much longer than was asked for that the VM must have been frozen. Then everything is due
 * at once, here and on every VM that thawed with it, and the times are drawn anew.
 */
export const hasOverslept = (askedForMs: number, tookMs: number, policy: DeliveryPolicy): boolean =>
  tookMs - askedForMs > policy.delayMsMax;
