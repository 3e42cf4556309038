// How the notices stand at one moment: who sends them, what waits at each sink, and what keeps them from being told.
import type { UnavailableReason } from '../../audit/store.ts';
import type { OutboxHealth } from '../../delivery/outbox/outbox.ts';
import type { QueueState } from '../../delivery/outbox/queue.ts';

/** `following`: another instance sends them. `failing`: this one would, and cannot. */
export type NoticesRole = 'opening' | 'leading' | 'following' | 'failing';

/** Why notices are not told now; null while they are. */
export type NoticesFault = UnavailableReason | 'state-dir-unusable' | 'outbox-unusable' | 'unexpected' | null;

/** The notices at one moment. */
export interface NoticesStanding {
  /** Epoch ms. */
  readonly now: number;
  readonly role: NoticesRole;
  readonly fault: NoticesFault;
  /** Entries of the trail that nobody has looked at for notices. */
  readonly behind: number;
  /** By sink; null while this instance does not lead, or cannot read its outbox. */
  readonly queues: Readonly<Record<string, QueueState>> | null;
  /** Null while this instance does not lead. */
  readonly outbox: OutboxHealth | null;
}

/** What the term in hand knows of itself. */
export interface TermBook {
  role: NoticesRole;
  fault: NoticesFault;
  behind: number;
  /** Looks at the outbox; null while there is none. */
  look: (() => Pick<NoticesStanding, 'queues' | 'outbox'>) | null;
}

export const openTermBook = (): TermBook => ({ role: 'opening', fault: null, behind: 0, look: null });

/** @param now epoch ms */
export function noticesStanding({ role, fault, behind, look }: TermBook, now: number): NoticesStanding {
  const { queues, outbox } = look?.() ?? { queues: null, outbox: null };
  const isUnusable = outbox !== null && (queues === null || outbox.fault !== null);
  return { now, role, behind, queues, outbox, fault: fault ?? (isUnusable ? 'outbox-unusable' : null) };
}
