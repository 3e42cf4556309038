// Plays a scenario: takes its steps at their times and waits until its events have lived their lives.
import { randomUUID } from 'node:crypto';
import {
  advance,
  type LiveDocument,
  type LiveEvent,
  nextDueAt,
  withChanges,
  withEvent,
  withoutEvent,
} from './live-document.ts';
import type { Scenario, ScenarioAction, ScenarioChanges, ScenarioEvent } from './script.ts';
import type { Stage } from './stage.ts';

/** Event ids by the name that the scenario gave them. */
type Cast = Map<string, readonly string[]>;

/** @returns when the last step is taken and the last event is gone, or when `signal` aborts */
export async function play(scenario: Scenario, stage: Stage, signal: AbortSignal): Promise<void> {
  const begunAt = stage.now();
  const endsAt = begunAt + (scenario.lastsMsMin ?? 0) / stage.speed;
  const cast: Cast = new Map();
  let waiting = scenario.steps.map(({ atMs, action }) => ({ dueAt: begunAt + atMs / stage.speed, action }));
  while (!signal.aborted) {
    const now = stage.now();
    for (const step of waiting) if (step.dueAt <= now) act(step.action, stage, cast);
    waiting = waiting.filter((step) => step.dueAt > now);
    stage.update(advance);
    const dueAt = firstOf(waiting[0]?.dueAt ?? null, nextChangeAt(stage.document, cast));
    if (dueAt === null && stage.now() >= endsAt) return;
    await stage.until(dueAt ?? endsAt, signal);
  }
}

const firstOf = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

/** When the document changes by itself; null once every event of this cast is gone. */
function nextChangeAt(document: LiveDocument, cast: Cast): number | null {
  const eventIds = new Set([...cast.values()].flat());
  return document.events.some((event) => eventIds.has(event.eventId)) ? nextDueAt(document) : null;
}

function act(action: ScenarioAction, stage: Stage, cast: Cast): void {
  const eventIds = 'name' in action ? (cast.get(action.name) ?? []) : [];
  switch (action.kind) {
    case 'schedule': {
      const live = action.events.map((event) => liveEvent(event, stage));
      stage.update((document) => live.reduce(withEvent, document));
      cast.set(action.name, [...eventIds, ...live.map((event) => event.eventId)]);
      break;
    }
    case 'change': {
      const changes = changesNow(action.changes, stage);
      stage.update((document) => eventIds.reduce((result, id) => withChanges(result, id, changes), document));
      break;
    }
    case 'remove':
      stage.update((document) => eventIds.reduce(withoutEvent, document));
      break;
    case 'fault':
      stage.inject(action.fault, action.scope);
      break;
    case 'document':
      stage.show(action.body);
      break;
  }
}

function liveEvent({ noticeMs, lastsMs, ...event }: ScenarioEvent, stage: Stage): LiveEvent {
  const lasts = compressed(lastsMs, stage.speed);
  return {
    ...event,
    // Every id that Azure's own captures show is upper case.
    eventId: (event.eventId ?? randomUUID()).toUpperCase(),
    eventStatus: noticeMs === null ? 'Started' : 'Scheduled',
    notBeforeAt: noticeMs === null ? null : notBeforeAfter(noticeMs, stage),
    lastsMs: lasts,
    endsAt: noticeMs === null ? stage.now() + lasts : null,
    approved: false,
  };
}

function changesNow({ noticeMs, ...changes }: ScenarioChanges, stage: Stage) {
  return noticeMs === undefined ? changes : { ...changes, notBeforeAt: notBeforeAfter(noticeMs, stage) };
}

/** The wire knows whole seconds only: rounded up, so that no event starts before its NotBefore. */
const notBeforeAfter = (noticeMs: number, { speed, now }: Stage): number =>
  Math.ceil((now() + compressed(noticeMs, speed)) / 1000) * 1000;

// However fast the scenario, whoever polls several times a second sees every phase of an event.
const phaseMsMin = 1_000;

const compressed = (ms: number, speed: number): number => Math.max(ms / speed, Math.min(ms, phaseMsMin));
