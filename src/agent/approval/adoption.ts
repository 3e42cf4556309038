// Lets the watch know of approvals that it did not see: a person's, and those of a run that was ended while it sent.
import { markApproved, type Watch } from '../../core/watch.ts';
import type { Outbox } from '../../delivery/outbox/outbox.ts';
import { openApprovalNotes } from './notes.ts';

/**
 * Opens it; the outbox is read when it is first asked, and again when another process wrote to it.
 * @returns what marks each event that was approved, or that Azure may have been told to start, as approved
 */
export function openAdoption(outbox: Pick<Outbox, 'version' | 'notes'>): (watch: Watch) => Watch {
  const notes = openApprovalNotes(outbox);
  return (watch) => {
    notes.refresh();
    let adopted = watch;
    for (const [key, { state }] of notes.all) {
      const sighting = Object.hasOwn(watch.sightings, key) ? watch.sightings[key] : undefined;
      if (sighting === undefined || sighting.approved) continue;
      if (state === 'approved' || state === 'sending') adopted = markApproved(adopted, key);
    }
    return adopted;
  };
}
