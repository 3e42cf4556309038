// What follows from how an event went, by what Azure documents of its kinds.
import type { EventSummary } from './event-fold.ts';
import { finalTypes } from './silence.ts';

/**
 * The least notice that Azure documents for a type, in seconds; null for Terminate, whose notice the user sets between
 * 5 and 15 minutes, and for a type that is not known.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#event-properties
 */
export const noticeSecondsMin = (eventType: string | null): number | null =>
  minimums[eventType?.toLowerCase() ?? ''] ?? null;

const minimums: Readonly<Record<string, number>> = { freeze: 900, reboot: 900, redeploy: 600, preempt: 30 };

/** Whether the event ends the VMs it names. */
export const isFinal = ({ eventType }: Pick<EventSummary, 'eventType'>): boolean =>
  finalTypes.some((type) => type === eventType?.toLowerCase());

/**
 * Whether nobody saw the event before it had started, although somebody watched. For the platform that is a failure of
 * the host, for a user an event that the VM's policy approves by itself.
 */
export const startedUnannounced = ({ scheduledAt, startedAt, firstSeenInitial }: EventSummary): boolean =>
  startedAt !== null && scheduledAt === null && !firstSeenInitial;

/** NotBefore as epoch ms; null when it is not known or no time. */
export function dueAt({ notBefore }: Pick<EventSummary, 'notBefore'>): number | null {
  const at = notBefore === null ? Number.NaN : Date.parse(notBefore);
  return Number.isNaN(at) ? null : at;
}
