// What happened at the source since the last look: what Azure says, and what the agents wrote down about it.
import { diff } from '../../core/diff.ts';
import { eventKey, readDocument, type ScheduledEvent } from '../../core/document.ts';
import { familyOf } from '../../core/record.ts';
import type { ImdsEmulator } from '../../emulators/imds/emulator.ts';
import type { AgentWord } from './fleet.ts';
import { type Line, namesOf, shortId } from './line.ts';

export interface SourceView {
  /** Takes in what an agent says. */
  hear(word: AgentWord): void;
  look(): readonly Line[];
  /** How an event is called: `Freeze c7061bac`. */
  labelOf(eventId: string): string;
  /** How many records each agent has written down: the sequence number of its last one. */
  readonly committed: ReadonlyMap<string, number>;
}

/** @param imds whose document is Azure's word */
export function viewSource(imds: ImdsEmulator): SourceView {
  const types = new Map<string, string>();
  // Each agent begins with one record about itself, which its log does not repeat.
  const committed = new Map(imds.vms.map(({ name }) => [name, 1]));
  const labelOf = (eventId: string): string =>
    `${types.get(eventKey(eventId)) ?? 'event'} ${shortId(eventId)}`;
  let known: readonly ScheduledEvent[] = [];
  let heard: AgentWord[] = [];

  const azure = (): Line[] => {
    const reading = readDocument(imds.document());
    if (reading.status !== 'document') return [];
    const { events } = reading.document;
    for (const event of events) types.set(eventKey(event.eventId), event.eventType);
    const changes = diff({ events: known }, reading.document, () => here);
    known = events;
    return changes.map(({ kind, event, inferred }) => ({
      place: 'azure',
      what: inferred ? 'gone' : kind,
      event: labelOf(event.eventId),
      detail: inferred ? 'it has left the document' : announcementOf(event),
    }));
  };
  const agents = (): Line[] => {
    const words = heard;
    heard = [];
    return [...recordLines(words, labelOf), ...troubleLines(words)];
  };
  return {
    hear: (word) => {
      heard.push(word);
      if (isRecord(word)) committed.set(word.vm, Number(word.fields['sequence']));
    },
    look: () => [...azure(), ...agents()],
    labelOf,
    committed,
  };
}

/** The demo looks at the document itself: it never has to wonder about an absence. */
const here = { at: 0, pollGapMs: 0, rebooted: false, approved: false };

function announcementOf({ notBefore, resources }: ScheduledEvent): string {
  if (notBefore === null) return `for ${namesOf(resources)}`;
  const seconds = Math.max(0, Math.round((Date.parse(notBefore) - Date.now()) / 1000));
  return `not before ${notBefore.slice(11, 19)} UTC, in ${seconds} s, for ${namesOf(resources)}`;
}

const isRecord = ({ message, fields }: AgentWord): boolean =>
  message === 'record' && typeof fields['id'] === 'string';

/** One line per fact, with the agents that wrote it down. */
function recordLines(words: readonly AgentWord[], labelOf: (eventId: string) => string): Line[] {
  const facts = Map.groupBy(words.filter(isRecord), factOf);
  return [...facts].map(([fact, sayings]) => {
    const [eventId = '', what = ''] = fact.split('_');
    const detail = `written down by ${namesOf(sayings.map(({ vm }) => vm))}`;
    return { place: 'agents', what, event: labelOf(eventId), detail };
  });
}

/** Each agent does its own deeds, under ids of its own: those of one kind are told together. */
function factOf({ fields }: AgentWord): string {
  const [id, family] = [String(fields['id']), familyOf(String(fields['type']))];
  return family === 'event' ? id : id.split('_', 2).join('_');
}

// A rule that says no is no trouble, and its record is told.
const isTrouble = ({ level, message }: AgentWord): boolean =>
  level !== 'info' && message !== 'the event is not approved';

/** One line per complaint, with the agents that have it. */
function troubleLines(words: readonly AgentWord[]): Line[] {
  const troubles = Map.groupBy(words.filter(isTrouble), ({ level, message, fields }) =>
    [`${level}:`, fields['sink'], fields['reason'], message].filter(Boolean).join(' '),
  );
  return [...troubles].map(([what, sayings]) => ({
    place: 'agents',
    what,
    event: '',
    detail: `(${namesOf(sayings.map(({ vm }) => vm))})`,
    alarming: true,
  }));
}
