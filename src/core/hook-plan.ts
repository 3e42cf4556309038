// Decides which hook of an event is due, for how long it may run, and how far its preparation is.
import { createHash } from 'node:crypto';
import type { HookOutcome, HookPhase } from './deed.ts';
import { endingOf, isStarted, type ScheduledEvent } from './document.ts';
import { type HookEntry, stateOf } from './hook-ledger.ts';
import { isAffected, type Observer } from './observer.ts';
import type { Sighting } from './watch.ts';

/** One hook, from the file or from the folder. */
export interface Hook {
  /** The same for the same command of the same phase, also after a restart. */
  readonly id: string;
  readonly phase: HookPhase;
  readonly command: readonly [string, ...string[]];
  /** Event types, any case; every type when not given. */
  readonly types?: readonly string[] | undefined;
  readonly affected: 'own' | 'others' | 'all';
  readonly timeoutMs: number | null;
  /** What was found against it already; null for nothing. */
  readonly refusal: HookRefusal | null;
}

/** Why a hook is not started. Beside these, the system's own word for a program that it does not run, such as `EACCES`. */
export type HookRefusal =
  /** Others than root and the agent's user may change the program, or a folder on the way to it. */
  | 'unsafe'
  | 'missing'
  | 'not-executable'
  /** It cannot be seen whether it is safe. */
  | 'unreadable'
  | 'no-time-left'
  | 'event-started'
  | 'event-over';

/** One hook as the settings have it, parsed. */
export interface HookSetting {
  readonly on: HookPhase;
  readonly types?: readonly string[] | undefined;
  readonly affected: 'own' | 'others' | 'all';
  readonly command: readonly string[];
  readonly timeout?: number | undefined;
}

/** Gives the hooks of the settings their ids: a command that stands twice is two hooks. */
export function hooksOf(settings: readonly HookSetting[]): readonly Hook[] {
  const seen = new Map<string, number>();
  return settings.map(({ on, types, affected, command, timeout }) => {
    const [program = '', ...words] = command;
    const name = hookId(on, command);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    const id = count === 1 ? name : `${name} ${count}`;
    const rest = { phase: on, types, affected, timeoutMs: timeout ?? null, refusal: null };
    return { ...rest, id, command: [program, ...words] as const };
  });
}

export const hookId = (phase: HookPhase, command: readonly string[]): string =>
  `${phase} ${createHash('sha256').update(JSON.stringify(command), 'utf8').digest('hex').slice(0, 16)}`;

/** Whether a hook is for this event on this VM; null while the VM does not know its own name. */
export function fits(hook: Hook, event: ScheduledEvent, observer: Observer): boolean | null {
  const type = event.eventType.toLowerCase();
  if (hook.types !== undefined && !hook.types.some((each) => each.toLowerCase() === type)) return false;
  if (hook.affected === 'all') return true;
  const affected = isAffected(event.resources, observer);
  return affected === null ? null : affected === (hook.affected === 'own');
}

/** An event that is announced, and neither begun, over nor in doubt: what can be prepared for. */
export const isComing = (sighting: Sighting | undefined): sighting is Sighting =>
  sighting !== undefined &&
  sighting.absence === undefined &&
  !isStarted(sighting.event) &&
  endingOf(sighting.event) === null;

// The end of a hook has to be written down, and an approval sent, while the event has not begun.
const reserveMs = 3_000;
// Nothing useful fits into less.
const timeoutMsMin = 1_000;
const timeoutMsMax = 24 * 3_600_000;
const timeoutMsUsual = 300_000;

/**
 * How long a hook may run, ms.
 * @param notBefore when the event may start, RFC 3339; null for a recover, or when nobody knows
 * @param now epoch ms
 * @returns null when there is no time left to begin
 */
export function timeoutOf(hook: Hook, notBefore: string | null, now: number): number | null {
  if (notBefore === null) return hook.timeoutMs ?? timeoutMsUsual;
  const leftMs = Math.floor(Date.parse(notBefore) - now - reserveMs);
  if (leftMs < timeoutMsMin) return null;
  return Math.min(hook.timeoutMs ?? timeoutMsMax, leftMs, timeoutMsMax);
}

/** What is to be done next for one event. */
export type HookStep =
  | { readonly do: 'start'; readonly hook: Hook; readonly timeoutMs: number }
  | { readonly do: 'refuse'; readonly hook: Hook; readonly reason: HookRefusal };

/** One event, as it stands. */
export interface HookMoment {
  readonly entry: HookEntry;
  /** As the watch remembers it; undefined when the event is gone. */
  readonly sighting: Sighting | undefined;
  /** All hooks, in order. */
  readonly hooks: readonly Hook[];
  readonly observer: Observer;
  /** Epoch ms. */
  readonly now: number;
}

/**
 * The next step of an event none of whose hooks is in hand. A prepare that came too late is refused before a recover
 * begins.
 */
export function nextStep(moment: HookMoment): HookStep | null {
  const { entry, sighting } = moment;
  if (entry.ending === null && isComing(sighting)) return stepOf('prepare', sighting.notBefore, moment);
  const isOver = entry.ending !== null;
  if (!isOver && !(sighting !== undefined && isStarted(sighting.event))) return null;
  const late = hooksFor('prepare', moment).find(({ id }) => stateOf(entry, id)?.outcome === 'due');
  if (late !== undefined)
    return { do: 'refuse', hook: late, reason: isOver ? 'event-over' : 'event-started' };
  return isOver ? stepOf('recover', null, moment) : null;
}

function stepOf(phase: HookPhase, notBefore: string | null, moment: HookMoment): HookStep | null {
  const hook = hooksFor(phase, moment).find(({ id }) => isOpen(stateOf(moment.entry, id)?.outcome));
  if (hook === undefined) return null;
  const timeoutMs = timeoutOf(hook, notBefore, moment.now);
  if (hook.refusal === 'missing' && timeoutMs !== null && isPatient(phase, moment)) return null;
  if (hook.refusal !== null) return { do: 'refuse', hook, reason: hook.refusal };
  if (timeoutMs === null) return { do: 'refuse', hook, reason: 'no-time-left' };
  return { do: 'start', hook, timeoutMs };
}

// A folder of hooks may be mounted late, or be replaced right now.
const folderPatienceMs = 600_000;

/** Whether there is time to wait for a folder that is not there: to prepare, as long as there is time to run. */
const isPatient = (phase: HookPhase, { entry, now }: HookMoment): boolean =>
  phase === 'prepare' || Math.abs(now - (entry.endedAt ?? 0)) < folderPatienceMs;

const isOpen = (outcome: HookOutcome | 'due' | undefined): boolean =>
  outcome === undefined || outcome === 'due';

type Circumstances = Pick<HookMoment, 'entry' | 'hooks' | 'observer'>;

/** The hooks of a phase that are for the event, in order; those of which it is not known yet are left out. */
export function hooksFor(phase: HookPhase, { entry, hooks, observer }: Circumstances): readonly Hook[] {
  return hooks.filter((hook) => hook.phase === phase && fits(hook, entry.event, observer) === true);
}

/** Whether nothing is left to be done for an event, now or later. */
export function isDone(moment: HookMoment): boolean {
  const { entry, hooks, observer } = moment;
  if (entry.ending === null || nextStep(moment) !== null) return false;
  if (hooksFor('recover', moment).some(({ id }) => isOpen(stateOf(entry, id)?.outcome))) return false;
  return !hooks.some((hook) => hook.phase === 'recover' && fits(hook, entry.event, observer) === null);
}

/** How far the preparation of an event is; see `Preparation` in the agent. */
export function preparation(moment: HookMoment): 'none' | 'pending' | 'succeeded' | 'failed' {
  const { entry, hooks, observer, sighting } = moment;
  const begun = Object.values(entry.hooks).filter(
    ({ phase, outcome }) => phase === 'prepare' && outcome !== 'due',
  );
  if (begun.some(({ outcome }) => outcome !== 'started' && outcome !== 'succeeded')) return 'failed';
  const prepares = hooks.filter(({ phase }) => phase === 'prepare');
  const waits = prepares.some((hook) => {
    const fitting = fits(hook, entry.event, observer);
    return fitting === null || (fitting && isOpen(stateOf(entry, hook.id)?.outcome));
  });
  const isInHand = begun.some(({ outcome }) => outcome === 'started');
  if (isInHand || (waits && isComing(sighting))) return 'pending';
  return begun.length > 0 ? 'succeeded' : 'none';
}

/** What a recover is told of the preparation: whether it was made, and held. */
export function preparedOf({ hooks }: HookEntry): 'yes' | 'no' | 'failed' {
  const outcomes = Object.values(hooks)
    .filter(({ phase }) => phase === 'prepare')
    .map(({ outcome }) => outcome)
    // What was due and is no longer there.
    .filter((outcome) => outcome !== 'due');
  if (outcomes.every((outcome) => outcome === 'not-started')) return 'no';
  return outcomes.every((outcome) => outcome === 'succeeded') ? 'yes' : 'failed';
}
