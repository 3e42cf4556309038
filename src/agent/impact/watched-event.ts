// What the agent remembers of one event while it measures its impact, from the first sight to the end.
import { isStarted } from '../../core/document.ts';
import {
  type Boot,
  type Felt,
  feelRestart,
  isNear,
  joinFelt,
  type LastTick,
  type Measurement,
  nothingFelt,
  type Place,
} from '../../core/impact.ts';
import type { Sighting } from '../../core/watch.ts';
import { type KeptMeasurement, noteOf } from './notes.ts';

export interface WatchedEvent {
  /** Null until a document of this run has it, or tells that it is gone. */
  readonly sighting: Sighting | null;
  /** Epoch ms since when what is in `felt` counts. */
  readonly from: number;
  readonly felt: Felt;
  /** Since the last document that said that the event is far: its effect, should the next one say otherwise. */
  readonly recent: { readonly from: number; readonly felt: Felt };
  readonly place: Place;
  /** The place as it was before the event can still be learned. */
  readonly untouched: boolean;
  /** The note on the disk must be written anew. */
  readonly unsaved: boolean;
  /** As the note on the disk has it. */
  readonly saved: { readonly near: boolean; readonly felt: boolean };
}

export const beginWatching = (sighting: Sighting, now: number, place: Place): WatchedEvent => ({
  sighting,
  from: now,
  felt: nothingFelt,
  recent: { from: now, felt: nothingFelt },
  place,
  untouched: !isStarted(sighting.event),
  unsaved: true,
  saved: { near: false, felt: false },
});

/** Takes up what an earlier run kept, with what was felt between the two. @param now epoch ms of the first tick */
export function resumeWatching(
  kept: KeptMeasurement,
  mark: LastTick | null,
  now: number,
  boot: Boot,
): WatchedEvent {
  // A mark from before belongs to another event: all that is known then is that the agent ran when it wrote the note.
  const noted = { at: kept.from, plannedMs: 0, staleMs: 0, orderly: true };
  const last = mark !== null && mark.at >= kept.from ? mark : noted;
  const felt = feelRestart(nothingFelt, last, now, { bootIdBefore: kept.bootId, boot });
  return {
    sighting: null,
    // While the event was far, nothing before the last tick was its effect.
    from: kept.near ? kept.from : last.at,
    felt: kept.felt,
    recent: { from: last.at, felt },
    place: kept.place,
    untouched: false,
    unsaved: true,
    saved: { near: kept.near, felt: true },
  };
}

/** Whether it may be under way at `now`. */
export const isNearby = ({ sighting }: WatchedEvent, now: number): boolean =>
  sighting === null || isNear(sighting, now);

export const feltBy = ({ felt, recent }: WatchedEvent): Felt => joinFelt(felt, recent.felt);

export const measurementOf = (watched: WatchedEvent): Measurement => ({
  ...{ from: watched.from, felt: feltBy(watched), place: watched.place },
});

/** What a document says of the event. */
export function sightedAs(watched: WatchedEvent, sighting: Sighting, now: number): WatchedEvent {
  const next = { ...watched, sighting };
  return isNearby(next, now) && !next.saved.near ? { ...next, unsaved: true } : next;
}

/** Learns where the VM is, as long as that is where it was before the event. */
export function placedAt(watched: WatchedEvent, place: Place): WatchedEvent {
  const { untouched, sighting } = watched;
  if (!untouched || sighting === null || isStarted(sighting.event)) return { ...watched, untouched: false };
  const faultDomain = watched.place.faultDomain ?? place.faultDomain;
  const temporaryDisk = watched.place.temporaryDisk ?? place.temporaryDisk;
  const isNews = faultDomain !== watched.place.faultDomain || temporaryDisk !== watched.place.temporaryDisk;
  return isNews ? { ...watched, place: { faultDomain, temporaryDisk }, unsaved: true } : watched;
}

/**
 * A document said that the event is far from beginning: what was felt before was not its effect. What was felt since
 * the document before this one stays for now: this answer may have been on its way already.
 */
export function stillFar(watched: WatchedEvent, now: number): WatchedEvent {
  const { recent, saved } = watched;
  const next = { ...watched, from: recent.from, felt: recent.felt, recent: { from: now, felt: nothingFelt } };
  const isClean = recent.felt.pauses.length === 0 && recent.felt.reboot === null && recent.felt.awayMs === 0;
  return saved.felt && isClean ? { ...next, unsaved: true } : next;
}

/** @returns the note that says all of it, and the event as it is once that is kept */
export function save(watched: WatchedEvent, bootId: string, now: number) {
  const near = isNearby(watched, now);
  const { pauses, reboot, awayMs } = feltBy(watched);
  const felt = pauses.length > 0 || reboot !== null || awayMs !== 0;
  const text = noteOf({ ...measurementOf(watched), bootId, near });
  return { text, next: { ...watched, unsaved: false, saved: { near, felt } } };
}
