// What is to be known of approvals beyond the end of the process, whoever gave them: this agent, or a person.
import type { ApprovalData } from '../../core/deed.ts';
import { contentOf, type ScheduledEvent } from '../../core/document.ts';
import type { Notes } from '../../delivery/outbox/draft.ts';
import type { Outbox } from '../../delivery/outbox/outbox.ts';
import type { Sent } from './send.ts';

interface Noted {
  /** Epoch ms. */
  readonly at: number;
}

/** Written down before anything is sent, with all that its record will say. */
export interface SendingNote extends Noted, Pick<ApprovalData, 'actor' | 'rule' | 'elected' | 'undelivered'> {
  readonly state: 'sending';
  readonly event: ScheduledEvent;
}

/** How the approval of one event stands. */
export type ApprovalNote =
  | SendingNote
  | (Noted & { readonly state: 'approved' })
  /** `content`: of the event as it was; another one may be decided anew. */
  | (Noted & { readonly state: 'failed'; readonly content: string })
  /** `reasons`: those that were told. */
  | (Noted & { readonly state: 'refused'; readonly reasons: readonly string[] });

/** What the keys of these notes begin with, before the event's own key. */
export const approvalNotes = 'deed/approval/';

/** The note of one event as the outbox keeps it; null forgets it. @param key the event's */
export const noteOf = (key: string, note: ApprovalNote | null): Notes => ({
  [`${approvalNotes}${key}`]: note === null ? null : JSON.stringify(note),
});

/** The note that follows a sending. @param at epoch ms; @returns null for an event that is to be decided anew */
export function noteAfter(end: Sent['end'], event: ScheduledEvent, at: number): ApprovalNote | null {
  if (end === 'accepted') return { state: 'approved', at };
  // It is gone: should it come back, it begins a new life.
  return end === 'ended' ? null : { state: 'failed', at, content: contentOf(event) };
}

export interface ApprovalNotes {
  /** Reads them again if another process wrote to the outbox. @returns false while they cannot be read */
  refresh(): boolean;
  /** By event key. */
  readonly all: ReadonlyMap<string, ApprovalNote>;
  /** Knows from now on what was written, or waits for the disk. */
  put(key: string, note: ApprovalNote | null): void;
}

/** Opens what the outbox knows of approvals; nothing is read before it is asked for. */
export function openApprovalNotes(outbox: Pick<Outbox, 'version' | 'notes'>): ApprovalNotes {
  const all = new Map<string, ApprovalNote>();
  // What this process wrote may still wait for the disk.
  const own = new Set<string>();
  let seen: number | null = null;
  return {
    all,
    refresh() {
      const version = outbox.version();
      if (version === seen) return true;
      const found = outbox.notes(approvalNotes);
      if (!found.ok) return false;
      seen = version;
      for (const key of all.keys()) if (!own.has(key)) all.delete(key);
      for (const [key, value] of found.value) take(all, key.slice(approvalNotes.length), value);
      return true;
    },
    put(key, note) {
      if (note === null) all.delete(key);
      else all.set(key, note);
      if (note === null) own.delete(key);
      else own.add(key);
    },
  };
}

/** The newer of two notes holds. */
function take(all: Map<string, ApprovalNote>, key: string, value: string): void {
  const note = JSON.parse(value) as ApprovalNote;
  const known = all.get(key);
  if (known === undefined || note.at > known.at) all.set(key, note);
}
