// Says to a person why the metadata service gave no document, and what to do about it.
import type { Poll } from '../agent/imds.ts';

/** A phrase to put behind the address that was asked. */
export function complaintOf(poll: Exclude<Poll, { status: 'document' }>): string {
  switch (poll.status) {
    case 'empty':
      return 'answers with nothing: Scheduled Events are waking up; ask again in two minutes';
    case 'unreadable':
      return `answers with something else than a document: ${poll.reason}`;
    case 'throttled':
      return `answers ${poll.code}: too many requests; programs on a VM share 5 a second`;
    case 'updating':
      return 'is being updated (410); ask again in a minute';
    case 'refused':
      return `answers ${poll.code}: ${poll.detail}`;
    case 'failed':
      return poll.reason;
  }
}
