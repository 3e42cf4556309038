// Takes one step for one event: starts a hook, with everything written down first, or says why it is not started.

import { environmentOf, standardInputOf } from '../../core/hook-environment.ts';
import { type HookEntry, type HookState, seenEnding, withState } from '../../core/hook-ledger.ts';
import {
  type Hook,
  type HookMoment,
  type HookRefusal,
  type HookStep,
  preparedOf,
} from '../../core/hook-plan.ts';
import { isAffected } from '../../core/observer.ts';
import { type HookEnd, runHook } from './hook-process.ts';
import { programFault } from './hook-programs.ts';
import { hookDraft } from './hook-records.ts';
import type { HookTools } from './hook-runner.ts';

/** @returns whether the event may have another step at once */
export function takeStep(key: string, step: HookStep, moment: HookMoment, tools: HookTools): boolean {
  if (step.do === 'refuse') return refuse(key, { ...step, moment }, tools);
  const fault = programFault(step.hook.command[0]);
  if (fault !== null) return refuse(key, { hook: step.hook, reason: fault, moment }, tools);
  start(key, { ...step, moment }, tools);
  return false;
}

interface Refusal {
  readonly hook: Hook;
  readonly reason: HookRefusal;
  readonly moment: HookMoment;
}

function refuse(key: string, { hook, reason, moment }: Refusal, tools: HookTools): true {
  const { book, clock, observer, log } = tools;
  const state = { ...stateOf(hook), outcome: 'not-started', startedAt: null, timeoutMs: null } as const;
  log.error({ ...fieldsOf(moment.entry, hook), reason }, 'a hook is not started');
  const entry = withState(moment.entry, hook.id, state);
  book.write(key, entry, [hookDraft({ entry, state, reason }, clock.now(), observer)]);
  return true;
}

interface Start {
  readonly hook: Hook;
  readonly timeoutMs: number;
  readonly moment: HookMoment;
}

function start(key: string, { hook, timeoutMs, moment }: Start, tools: HookTools): void {
  const { book, hands, clock, observer, log } = tools;
  const startedAt = clock.now();
  const state = { ...stateOf(hook), outcome: 'started', startedAt, timeoutMs } as const;
  const entry = withState(moment.entry, hook.id, state);
  if (!book.writeFirst(key, entry, hookDraft({ entry, state }, startedAt, observer))) return;
  log.info({ ...fieldsOf(entry, hook), timeoutMs }, 'a hook starts');
  hands.take(key, run({ key, hook, entry, state }, tools));
}

interface Running {
  readonly key: string;
  readonly hook: Hook;
  readonly entry: HookEntry;
  readonly state: HookState & { readonly startedAt: number; readonly timeoutMs: number };
}

async function run(running: Running, tools: HookTools): Promise<void> {
  const { clock, observer, signal } = tools;
  const { hook, entry, state } = running;
  const { startedAt, timeoutMs } = state;
  const news = {
    ...{ phase: hook.phase, event: entry.event, observer: observer.current(), timeoutMs },
    affected: isAffected(entry.event.resources, observer.current()),
    deadlineAt: startedAt + timeoutMs,
    ending: seenEnding(entry),
    prepared: preparedOf(entry),
  };
  const beganMs = clock.monotonic();
  const end = await runHook({
    ...{ command: hook.command, timeoutMs, clock, signal },
    environment: environmentOf(news, process.env),
    standardInput: standardInputOf(news),
  });
  noteEnd(running, end, clock.monotonic() - beganMs, tools);
}

function noteEnd(
  { key, hook, entry, state }: Running,
  end: HookEnd,
  durationMs: number,
  tools: HookTools,
): void {
  const { book, clock, observer, log } = tools;
  const ended = { ...state, outcome: end.outcome };
  const now = book.get(key);
  // One that came back in the meantime knows nothing of the hooks of its life before.
  const isSameLife = now?.life === entry.life;
  const told = withState(isSameLife ? now : entry, hook.id, ended);
  const { outcome, reason, exitCode } = end;
  const fields = { ...fieldsOf(entry, hook), outcome, reason, exitCode, durationMs: Math.round(durationMs) };
  if (outcome === 'succeeded') log.info(fields, 'a hook has ended');
  else log.error(fields, outcome === 'not-started' ? notRun : 'a hook has failed');
  const draft = hookDraft({ entry: told, state: ended, reason, end, durationMs }, clock.now(), observer);
  book.write(key, isSameLife ? told : undefined, [draft]);
}

const notRun =
  'the system does not run this hook; the sandbox of the service may forbid it: see docs/hooks.md';

const stateOf = ({ phase, command: [hook] }: Hook) => ({ phase, hook });

const fieldsOf = ({ event }: HookEntry, { phase, command: [hook] }: Hook): object => ({
  ...{ eventId: event.eventId, phase, hook },
});
