// Makes the records of hooks: one when a hook starts, one when it has ended, and one for each that never did.
import { type HookData, type HookOutcome, hookRecord, type Told } from '../../core/deed.ts';
import { type HookEntry, type HookState, seenEnding } from '../../core/hook-ledger.ts';
import type { Draft } from '../../delivery/outbox/draft.ts';
import { version } from '../../version.ts';
import type { ObserverSource } from '../observer-source.ts';
import type { HookEnd } from './hook-process.ts';

/** A hook as it stands now, and how it came to. */
export interface HookNotice {
  readonly entry: HookEntry;
  readonly state: HookState & { readonly outcome: HookOutcome };
  /** Why it was not started. */
  readonly reason?: string | null;
  readonly end?: HookEnd;
  readonly durationMs?: number;
}

/** @param at epoch ms */
export function hookDraft(notice: HookNotice, at: number, observer: ObserverSource): Draft {
  const told = toldOf(notice);
  return {
    factId: null,
    urgent: false,
    make: (stamp) => hookRecord(at, told, { observer: observer.current(), agent: { version, ...stamp } }),
  };
}

function toldOf({ entry, state, reason = null, end, durationMs }: HookNotice): Told<HookData> {
  const { phase, hook, outcome, startedAt, timeoutMs } = state;
  return {
    event: entry.event,
    phase,
    hook,
    outcome,
    reason,
    exitCode: end?.exitCode ?? null,
    signal: end?.signal ?? null,
    startedAt: startedAt === null ? null : new Date(startedAt).toISOString(),
    durationMs: durationMs === undefined ? null : Math.round(durationMs),
    timeoutMs,
    output: end?.output.text ?? null,
    outputTruncated: end?.output.truncated ?? false,
    ending: phase === 'recover' ? seenEnding(entry) : null,
  };
}
