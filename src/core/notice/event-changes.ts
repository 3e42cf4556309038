// What changed about an event that goes on: which field, and how it was before.
import { canonicalName } from '../document.ts';
import { lengthOf } from './impact.ts';
import { shortened } from './plain-text.ts';
import { child, type EventDetails, eventDetails, type ReportedEvent } from './reported.ts';
import { utcText } from './time-text.ts';

/** One field that changed, in words. */
export interface ChangedField {
  /** Such as `not before`. */
  readonly name: string;
  /** Such as `was 2026-11-10 22:26:58 UTC`. */
  readonly text: string;
}

interface Field {
  readonly name: string;
  text(before: EventDetails, now: EventDetails): string;
}

const quotedLengthMax = 160;

const was = (text: string | null): string => (text === null ? 'was not given' : `was ${text}`);

const fields: Readonly<Record<string, Field>> = {
  notBefore: {
    name: 'not before',
    text: ({ notBefore, notBeforeText }) => was(notBefore === null ? notBeforeText : utcText(notBefore)),
  },
  durationSeconds: {
    name: 'length',
    text: ({ durationSeconds }) => `was ${lengthOf(durationSeconds).replace('length ', '')}`,
  },
  resources: { name: 'VMs', text: (before, now) => vmsChanged(before.resources, now.resources) },
  eventType: { name: 'type', text: ({ eventType }) => was(eventType) },
  eventStatus: { name: 'status', text: ({ eventStatus }) => was(eventStatus) },
  eventSource: { name: 'source', text: ({ eventSource }) => was(eventSource) },
  description: {
    name: 'description',
    text: ({ description }) =>
      was(description === null ? null : `"${shortened(description, quotedLengthMax)}"`),
  },
};

/** What changed, in the order in which it matters. */
export function changedFields({ previous, details }: ReportedEvent): readonly ChangedField[] {
  const before = eventDetails(previous);
  return Object.entries(fields)
    .filter(([field]) => child(previous, field) !== undefined)
    .map(([, { name, text }]) => ({ name, text: text(before, details) }));
}

function vmsChanged(before: readonly string[], now: readonly string[]): string {
  const without = (list: readonly string[], taken: readonly string[]) => {
    const names = new Set(taken.map(canonicalName));
    return list.filter((name) => !names.has(canonicalName(name)));
  };
  const [added, gone] = [without(now, before), without(before, now)];
  const parts = [
    added.length === 0 ? '' : `added ${listText(added)}`,
    gone.length === 0 ? '' : `no longer ${listText(gone)}`,
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'in another order' : parts.join('; ');
}

const namesMax = 5;

/** Such as `a, b and 3 more VMs`. */
export function listText(names: readonly string[]): string {
  const more = names.length - namesMax;
  // "and 1 more" takes the room of the one it hides.
  if (more <= 1) return names.join(', ');
  return `${names.slice(0, namesMax).join(', ')} and ${more} more VMs`;
}
