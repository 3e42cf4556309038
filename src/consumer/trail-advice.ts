// Explains to a person why the trail takes nothing, and what to do about it.
import type { UnavailableReason } from '../audit/store.ts';

const sentences: Readonly<Record<UnavailableReason, string>> = {
  'disk-full': 'the disk of the trail is full; make room, and it goes on by itself',
  locked: 'another program holds the trail locked; when this lasts, find it and end it',
  damaged: 'the trail is damaged; stop the consumer, keep what is there, and restore the trail from a copy',
  'read-only':
    'the trail takes no writes; let the consumer write there, or give it the primary server instead of a replica',
  unreachable:
    'the server of the trail cannot be reached; mend it or the way there before the hub’s retention is over',
  unauthorized:
    'the trail is not open to this user; check the password and the role, which `seb check` names, or the owner of the file',
  unexpected: 'nobody foresaw this; see the log of the trail’s server, and run `seb check`',
};

/** One sentence without its full stop: what happened, and what to do. */
export const trailAdviceOf = (reason: UnavailableReason): string => sentences[reason];
