// Measures what an event does to this VM: pauses, reboots and moves, by ticks while an event that names it is coming.
import { type ImpactData, impactRecord, type Told } from '../core/deed.ts';
import { isOver } from '../core/diff.ts';
import { eventKey } from '../core/document.ts';
import { feelGap, impactOf, isSurelyFelt, type Tick, tickIntervalMs } from '../core/impact.ts';
import { isAffected } from '../core/observer.ts';
import type { Observation, Watch } from '../core/watch.ts';
import type { Draft, Notes } from '../delivery/outbox/draft.ts';
import { version } from '../version.ts';
import { notePrefix, readNote } from './impact/notes.ts';
import { openSurroundings, type Surroundings } from './impact/surroundings.ts';
import { openTickMark, type TickMark } from './impact/tick-mark.ts';
import {
  beginWatching,
  feltBy,
  isNearby,
  measurementOf,
  placedAt,
  resumeWatching,
  save,
  sightedAs,
  stillFar,
  type WatchedEvent,
} from './impact/watched-event.ts';
import type { Consequence, Reaction, SeenDocument } from './reaction.ts';
import type { ReactionRuntime } from './reactions.ts';

// While an event may be under way: often enough to be right when it ends, and no burden to instance metadata.
const lookIntervalMs = 30_000;

export const openImpactMeter = (runtime: ReactionRuntime): Reaction => new ImpactMeter(runtime);

class ImpactMeter implements Reaction {
  readonly #runtime: ReactionRuntime;
  readonly #mark: TickMark;
  readonly #surroundings: Surroundings;
  /** By event key. */
  readonly #events = new Map<string, WatchedEvent>();
  /** Keys of notes that nobody needs any more. */
  readonly #forgotten = new Set<string>();
  #last: Tick;
  #plannedMs: number = tickIntervalMs.far;
  #isRecalled = false;
  #ticking: Promise<void> | null = null;
  #nap = new AbortController();
  #isOver = false;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(runtime: ReactionRuntime) {
    this.#runtime = runtime;
    this.#mark = openTickMark(runtime.settings.stateDir);
    this.#surroundings = openSurroundings(runtime.settings.impact.temporaryDisk, runtime.observer);
    this.#last = this.#now();
    this.#surroundings.look();
    this.#recall();
    this.#save();
    this.#tickOn();
  }

  foresee(seen: SeenDocument): Consequence {
    this.#recall();
    this.#tick();
    const ends = seen.observations.filter(({ kind }) => kind === 'completed' || kind === 'canceled');
    const drafts = ends.flatMap((end) => this.#end(end, seen.now));
    this.#sight(seen.watch, seen.now);
    return { drafts, notes: this.#unsaved() };
  }

  act(watch: Watch, now: number): void {
    this.#recall();
    this.#tick();
    this.#sight(watch, now);
    for (const [key, event] of this.#events) {
      if (!isNearby(event, now)) this.#events.set(key, stillFar(event, now));
    }
    this.#save();
    this.#lookAround();
    this.#tickOn();
  }

  idle(): Promise<void> {
    return Promise.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#nap.abort();
    await this.#ticking;
    if (this.#events.size > 0) {
      this.#tick();
      this.#save();
      this.#mark.leave(this.#last.at);
    }
    this.#mark[Symbol.dispose]();
  }

  #now(): Tick {
    const { clock } = this.#runtime;
    return { at: clock.now(), monotonicMs: clock.monotonic() };
  }

  /** What earlier runs measured, and what was felt since: once, as soon as the file can be read. */
  #recall(): void {
    if (this.#isRecalled) return;
    const { outbox, boot } = this.#runtime;
    const notes = outbox.notes(notePrefix);
    if (!notes.ok) return;
    this.#isRecalled = true;
    for (const [note, text] of notes.value) {
      const kept = readNote(text);
      const key = note.slice(notePrefix.length);
      if (kept === null) this.#forgotten.add(key);
      else this.#events.set(key, resumeWatching(kept, this.#mark.last, this.#last.at, boot));
    }
  }

  /** Begins with events that name this VM, and lets go of those that do not any more. */
  #sight(watch: Watch, now: number): void {
    const place = this.#surroundings.current();
    const current = new Map(Object.entries(watch.sightings).filter(([, { event }]) => this.#concerns(event)));
    for (const key of this.#events.keys()) if (!current.has(key)) this.#forget(key);
    for (const [key, sighting] of current) {
      const known = this.#events.get(key);
      if (known === undefined) this.#lookFresh();
      const event =
        known === undefined ? beginWatching(sighting, now, place) : sightedAs(known, sighting, now);
      this.#events.set(key, placedAt(event, place));
      this.#forgotten.delete(key);
    }
  }

  /** What is known of the place is as old as the agent's last question, which is new enough for the beginning. */
  #lookFresh(): void {
    this.#surroundings.look();
    this.#lookedMs = this.#last.monotonicMs;
  }

  // As long as this VM does not know its name, every event may be its own.
  #concerns(event: Observation['event']): boolean {
    return !isOver(event) && isAffected(event.resources, this.#runtime.observer.current()) !== false;
  }

  #forget(key: string): void {
    this.#events.delete(key);
    this.#forgotten.add(key);
  }

  /** An event that was called off gets a record only when something was felt all the same. */
  #end({ event, kind, sighting }: Observation, now: number): readonly Draft[] {
    const { observer } = this.#runtime;
    const key = eventKey(event.eventId);
    const watched = this.#events.get(key);
    this.#forget(key);
    if (watched === undefined || isAffected(event.resources, observer.current()) !== true) return [];
    if (kind === 'canceled' && !isSurelyFelt(feltBy(watched))) return [];
    const known = { ...event, notBefore: event.notBefore ?? sighting.notBefore };
    const end = { at: now, place: this.#surroundings.current() };
    return [this.#draft(now, impactOf(known, measurementOf(watched), end))];
  }

  #draft(now: number, told: Told<ImpactData>): Draft {
    const { observer } = this.#runtime;
    return {
      factId: null,
      urgent: false,
      make: (stamp) =>
        impactRecord(now, told, { observer: observer.current(), agent: { version, ...stamp } }),
    };
  }

  /** Adds the time since the last tick to every event. */
  #tick(): void {
    const before = this.#last;
    const tick = this.#now();
    this.#last = tick;
    if (this.#events.size === 0) return;
    for (const [key, event] of this.#events) {
      const felt = feelGap(event.recent.felt, before, tick, this.#plannedMs);
      const isNews = felt.pauses !== event.recent.felt.pauses;
      const recent = { ...event.recent, felt };
      const unsaved = event.unsaved || (isNews && isNearby(event, tick.at));
      this.#events.set(key, { ...event, recent, unsaved });
      if (isNews) this.#tellPause(key, felt.pauses.at(-1));
    }
    this.#mark.write(tick.at, this.#pace());
  }

  #tellPause(event: string, pause: object | undefined): void {
    this.#runtime.log.info({ event, ...pause }, 'this VM, or only the agent, stood still for a while');
    // The VM may be elsewhere now.
    this.#lookedMs = Number.NEGATIVE_INFINITY;
  }

  #pace(): number {
    const isNear = [...this.#events.values()].some((event) => isNearby(event, this.#last.at));
    return isNear ? tickIntervalMs.near : tickIntervalMs.far;
  }

  /** Ticks by a timer of its own, since a poll may hang; without an event there is no timer. */
  #tickOn(): void {
    if (this.#isOver || this.#events.size === 0) return;
    if (this.#ticking === null) this.#ticking = this.#run();
    else if (this.#pace() < this.#plannedMs) this.#nap.abort();
  }

  async #run(): Promise<void> {
    while (!this.#isOver && this.#events.size > 0) {
      this.#plannedMs = this.#pace();
      this.#nap = new AbortController();
      await this.#runtime.clock.sleep(this.#plannedMs, this.#nap.signal);
      this.#tick();
      this.#save();
    }
    this.#ticking = null;
  }

  #lookAround(): void {
    const nowMs = this.#last.monotonicMs;
    if (this.#events.size === 0 || this.#pace() !== tickIntervalMs.near) return;
    if (nowMs - this.#lookedMs < lookIntervalMs) return;
    this.#lookedMs = nowMs;
    this.#surroundings.look();
    this.#surroundings.ask();
  }

  /** What must be written down; it counts as written. */
  #unsaved(): Notes {
    const { boot } = this.#runtime;
    const notes: Record<string, string | null> = {};
    for (const key of this.#forgotten) notes[notePrefix + key] = null;
    this.#forgotten.clear();
    for (const [key, event] of this.#events) {
      if (!event.unsaved) continue;
      const { text, next } = save(event, boot.id, this.#last.at);
      notes[notePrefix + key] = text;
      this.#events.set(key, next);
    }
    return notes;
  }

  #save(): void {
    const notes = this.#unsaved();
    if (Object.keys(notes).length > 0) this.#runtime.journal.commit(null, [], notes);
  }
}
