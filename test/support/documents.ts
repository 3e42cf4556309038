// Documents for tests: the fixtures as they were found, and others made of a few entries.
import { readdirSync, readFileSync } from 'node:fs';
import { readDocument, type ScheduledEvent, type ScheduledEventsDocument } from '../../src/core/document.ts';

const folder = new URL('../fixtures/imds/', import.meta.url);

/** One entry of `Events`, as it travels. */
export type WireEvent = Readonly<Record<string, unknown>>;

/** The names of all fixtures. */
export const fixtureNames = (): readonly string[] =>
  readdirSync(folder).filter((name) => name.endsWith('.json') || name.endsWith('.txt'));

/** The text of a fixture, to the byte. */
export const fixtureText = (name: string): string => readFileSync(new URL(name, folder), 'utf8');

/** Reads a body that has to be a document. */
export function goodDocument(body: string): ScheduledEventsDocument {
  const reading = readDocument(body);
  if (reading.status !== 'document')
    throw new Error(`expected a document, found one that is ${reading.status}`);
  return reading.document;
}

/** A document with these entries, read as it would come from IMDS. */
export const documentOf = (events: readonly unknown[], incarnation: unknown = 1): ScheduledEventsDocument =>
  goodDocument(JSON.stringify({ DocumentIncarnation: incarnation, Events: events }));

/** The documented live migration: a freeze of five seconds, told to two VMs. */
export const freeze: WireEvent = {
  EventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  EventStatus: 'Scheduled',
  EventType: 'Freeze',
  ResourceType: 'VirtualMachine',
  Resources: ['WestNO_0', 'WestNO_1'],
  NotBefore: 'Tue, 10 Nov 2026 22:26:58 GMT',
  Description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
  EventSource: 'Platform',
  DurationInSeconds: 5,
};

/** The same event once it has begun. */
export const freezeStarted: WireEvent = { ...freeze, EventStatus: 'Started', NotBefore: '' };

/** One entry, read. */
export function eventOf(entry: WireEvent): ScheduledEvent {
  const event = documentOf([entry]).events[0];
  if (event === undefined) throw new Error('expected the entry to be an event');
  return event;
}
