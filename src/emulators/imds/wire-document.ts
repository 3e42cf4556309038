// Writes the live document as IMDS does, in the dialect of each api-version.
import { isPreview, shows } from './api-version.ts';
import type { LiveEvent } from './live-document.ts';

/** Compact JSON of the document. An event type that a version does not know is hidden from it. */
export function wireDocument(incarnation: number, events: readonly LiveEvent[], apiVersion: string): string {
  const visible = events.filter((event) => shows(apiVersion, introducedIn[event.eventType] ?? ''));
  return JSON.stringify({
    DocumentIncarnation: incarnation,
    Events: visible.map((event) => wireEvent(event, apiVersion)),
  });
}

const introducedIn: Readonly<Record<string, string>> = { Preempt: '2017-11-01', Terminate: '2019-01-01' };

function wireEvent(event: LiveEvent, apiVersion: string): object {
  const prefix = isPreview(apiVersion) ? '_' : '';
  return {
    EventId: event.eventId,
    EventStatus: event.eventStatus,
    EventType: event.eventType,
    ResourceType: 'VirtualMachine',
    Resources: event.resources.map((name) => `${prefix}${name}`),
    NotBefore: rfc1123(event.notBeforeAt),
    ...(shows(apiVersion, '2019-04-01') ? { Description: event.description } : {}),
    ...(shows(apiVersion, '2019-08-01') ? { EventSource: event.eventSource } : {}),
    ...(shows(apiVersion, '2020-07-01') ? { DurationInSeconds: event.durationSeconds } : {}),
  };
}

/** `Mon, 11 Apr 2022 22:26:58 GMT`; blank for an event that has started. */
const rfc1123 = (at: number | null): string => (at === null ? '' : new Date(at).toUTCString());
