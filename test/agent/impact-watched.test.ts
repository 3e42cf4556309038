// What the agent remembers of one event's impact: what counts while the event is far, and what the next run is told.
import { describe, expect, test } from 'vitest';
import { readNote } from '../../src/agent/impact/notes.ts';
import {
  beginWatching,
  feltBy,
  measurementOf,
  placedAt,
  resumeWatching,
  save,
  sightedAs,
  stillFar,
  type WatchedEvent,
} from '../../src/agent/impact/watched-event.ts';
import { feelGap } from '../../src/core/impact.ts';
import type { Sighting } from '../../src/core/watch.ts';
import { eventOf, freeze, freezeStarted, type WireEvent } from '../support/documents.ts';

const due = Date.parse('2026-11-10T22:26:58Z');
const now = due - 3_600_000;
const sightingOf = (entry: WireEvent): Sighting => ({
  ...{ event: eventOf(entry), firstSeenAt: now, timeline: {}, notBefore: '2026-11-10T22:26:58Z' },
  ...{ initial: false, approved: false },
});
const nowhere = { faultDomain: null, temporaryDisk: null };
const begun = beginWatching(sightingOf(freeze), now, nowhere);

/** A pause of some seconds, felt after the last document. */
function paused(watched: WatchedEvent): WatchedEvent {
  const before = { at: now + 1_000, monotonicMs: 0 };
  const after = { at: now + 7_000, monotonicMs: 6_000 };
  const felt = feelGap(watched.recent.felt, before, after, 1_000);
  return { ...watched, recent: { ...watched.recent, felt } };
}
const pausesOf = (watched: WatchedEvent) => feltBy(watched).pauses.length;

describe('a pause while the event is far', () => {
  test('counts until two documents say that the event still is: the first may have been on its way before', () => {
    const once = stillFar(paused(begun), now + 8_000);
    expect(pausesOf(once)).toBe(1);
    const twice = stillFar(once, now + 9_000);
    expect(pausesOf(twice)).toBe(0);
    expect(measurementOf(twice).from).toBe(now + 8_000);
  });
});

describe('the note', () => {
  const boot = { id: 'one', startedAt: 0, told: true };
  const noteOf = (watched: WatchedEvent, at: number) => {
    const kept = readNote(save(watched, 'one', at).text);
    if (kept === null) throw new Error('expected a note');
    return kept;
  };

  test('is written again when the event comes near, and once that is written not before there is news', () => {
    const { next } = save(begun, 'one', now);
    expect(sightedAs(next, sightingOf(freeze), now + 60_000).unsaved).toBe(false);
    const near = sightedAs(next, sightingOf(freezeStarted), now + 60_000);
    expect(near.unsaved).toBe(true);
    expect(sightedAs(save(near, 'one', now).next, sightingOf(freezeStarted), now).unsaved).toBe(false);
  });

  test('of an event that was near tells the next run of all that was felt, and since when', () => {
    const near = paused(sightedAs(begun, sightingOf(freezeStarted), now));
    const resumed = resumeWatching(noteOf(near, now + 8_000), null, now + 9_000, boot);
    expect(pausesOf(resumed)).toBe(1);
    expect(measurementOf(resumed).from).toBe(now);
  });

  test('of an event that was far counts from the last tick', () => {
    const mark = { at: now + 5_000, plannedMs: 1_000, staleMs: 40_000, orderly: true };
    const resumed = resumeWatching(noteOf(begun, now), mark, now + 9_000, boot);
    expect(measurementOf(resumed).from).toBe(now + 5_000);
    expect(feltBy(resumed).awayMs).toBe(4_000);
  });

  test('counts from its own time where the last tick is from before it', () => {
    const mark = { at: now - 5_000, plannedMs: 1_000, staleMs: 40_000, orderly: false };
    expect(feltBy(resumeWatching(noteOf(begun, now), mark, now + 9_000, boot)).awayMs).toBe(9_000);
  });

  test('that another program made is no note', () => {
    for (const text of ['', '{', 'null', '7', '{"version":2}']) expect(readNote(text)).toBeNull();
  });
});

describe('where the VM was', () => {
  const here = { faultDomain: '1', temporaryDisk: '17-2' };

  test('is learned later, but not once the event has begun', () => {
    expect(placedAt(begun, here)).toMatchObject({ place: here, unsaved: true });
    const started = sightedAs(begun, sightingOf(freezeStarted), now);
    expect(placedAt(started, here).place).toEqual(nowhere);
    expect(placedAt(placedAt(started, here), here).place).toEqual(nowhere);
  });

  test('stays what it was', () => {
    const known = placedAt(begun, here);
    expect(placedAt(known, { faultDomain: '2', temporaryDisk: '99-2' }).place).toEqual(here);
  });
});
