// How the approval of each announced event stands: who may give it, and what the rules of this VM do about it.
import { hooksInFolder } from '../../agent/hooks/hook-programs.ts';
import type { ImdsClient } from '../../agent/imds.ts';
import type { AgentSettings } from '../../agent/settings.ts';
import { decideApproval } from '../../core/approval.ts';
import { whatComesOf, whoMayApprove } from '../../core/approval-words.ts';
import type { ScheduledEvent } from '../../core/document.ts';
import { fits, hooksOf } from '../../core/hook-plan.ts';
import { type Observer, unknownObserver } from '../../core/observer.ts';
import type { CommandContext } from '../command.ts';

/** An event with what `seb current` says of its approval. */
export interface Standing {
  readonly event: ScheduledEvent;
  readonly approver: string;
  readonly approval: string;
}

export interface StandingRuntime {
  readonly client: ImdsClient;
  readonly settings: AgentSettings;
  readonly context: CommandContext;
}

// Nobody waits for a name longer than for the events themselves.
const observerTimeoutMs = 3_000;

/** Asks instance metadata which VM this is, once. */
export async function standingOf(
  events: readonly ScheduledEvent[],
  { client, settings, context }: StandingRuntime,
): Promise<readonly Standing[]> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(observerTimeoutMs)]);
  const observer = await client.observer(signal).catch(() => unknownObserver);
  return events.map((event) => ({
    event,
    approver: whoMayApprove(event, observer.vmName),
    approval: settings.approval.enabled ? byRules(event, observer, settings) : 'approval is off',
  }));
}

function byRules(event: ScheduledEvent, observer: Observer, settings: AgentSettings): string {
  const now = Date.now();
  const { notBefore } = event;
  const preparation = isPrepared(event, observer, settings) ? 'pending' : 'none';
  const known = { firstSeenAt: now, approved: false, undelivered: [] };
  const subject = { ...known, event, notBefore, vmName: observer.vmName, preparation } as const;
  return whatComesOf(decideApproval(subject, settings.approval, now), now);
}

/** Whether there is a hook that prepares this VM for the event. */
function isPrepared(event: ScheduledEvent, observer: Observer, { hooks, hooksDir }: AgentSettings): boolean {
  const inFolder = hooksDir === undefined ? [] : hooksInFolder(hooksDir, event.eventType);
  return [...hooksOf(hooks), ...inFolder].some(
    (hook) => hook.phase === 'prepare' && fits(hook, event, observer) === true,
  );
}
