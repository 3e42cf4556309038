// Writes down what came of the approval of an event, for later runs and for the world.
import { type ApprovalData, isAsWanted, type Told } from '../../core/deed.ts';
import type { ReactionRuntime } from '../reactions.ts';
import { approvalDraft } from './draft.ts';
import { type ApprovalNote, type ApprovalNotes, noteOf } from './notes.ts';

export interface TellRuntime
  extends Pick<ReactionRuntime, 'approved' | 'journal' | 'observer' | 'wake' | 'clock' | 'log'> {
  readonly notes: ApprovalNotes;
}

const sentences = {
  approved: 'the event is approved',
  refused: 'the event is not approved',
  failed: 'the approval failed',
} as const;

/** The record and the note, in one commit; with an approval, the watch that knows of it too. */
export function tellApproval(
  key: string,
  told: Told<ApprovalData>,
  note: ApprovalNote | null,
  { approved, journal, observer, wake, clock, log, notes }: TellRuntime,
): void {
  const draft = approvalDraft(clock.now(), told, () => observer.current());
  const deed = { drafts: [draft], notes: noteOf(key, note) };
  notes.put(key, note);
  const { decision, reason, rule, elected, answer, undelivered, event } = told;
  const fields = { eventId: event.eventId, reason, rule, elected, answer, undelivered };
  log[isAsWanted(told) ? 'info' : 'warn'](fields, sentences[decision]);
  if (decision === 'approved') approved(event.eventId, deed);
  else {
    const written = journal.commit(null, deed.drafts, deed.notes);
    for (const { id, type, sequence } of written ?? []) log.info({ id, type, sequence }, 'record');
  }
  wake.ring();
}
