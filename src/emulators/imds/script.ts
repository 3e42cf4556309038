// A scenario as the player needs it: the scripted lives of events. Times are scenario time in ms.
import type { FaultScope, ImdsFault } from './fault.ts';

/** What one step does at its time. */
export type ScenarioAction =
  /** Events appear in the document: one, or one per VM. */
  | { readonly kind: 'schedule'; readonly name: string; readonly events: readonly ScenarioEvent[] }
  | { readonly kind: 'change'; readonly name: string; readonly changes: ScenarioChanges }
  /** The events leave the document, whatever their status: before the start that means canceled. */
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'fault'; readonly fault: ImdsFault; readonly scope: FaultScope }
  /** This body is what IMDS answers, byte by byte, until the next step that says otherwise. */
  | { readonly kind: 'document'; readonly body: string };

export interface ScenarioStep {
  /** From the beginning of the scenario. */
  readonly atMs: number;
  readonly action: ScenarioAction;
}

export interface ScenarioEvent {
  /** A new one for each play unless given. */
  readonly eventId: string | null;
  readonly eventType: string;
  readonly eventSource: string;
  readonly description: string;
  /** -1 = unknown. What the VM is told to expect: the speed does not change it. */
  readonly durationSeconds: number;
  readonly resources: readonly string[];
  /** From its appearance to NotBefore; null = it appears Started. */
  readonly noticeMs: number | null;
  /** From its start to its removal. */
  readonly lastsMs: number;
}

export interface ScenarioChanges {
  readonly description?: string;
  readonly durationSeconds?: number;
  readonly resources?: readonly string[];
  /** NotBefore moves to so long after this step. */
  readonly noticeMs?: number;
}

export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** In the order of their times. */
  readonly steps: readonly ScenarioStep[];
  /** It is not over before this time, whatever its steps do. */
  readonly lastsMsMin?: number;
}

/** The longest that a play may take at speed 1, in ms of scenario time; removals and approvals shorten it. */
export function lengthMsMaxOf({ steps, lastsMsMin = 0 }: Scenario): number {
  const events = steps.flatMap(({ action }) => (action.kind === 'schedule' ? action.events : []));
  const lastsMsMax = Math.max(0, ...events.map(({ lastsMs }) => lastsMs));
  const ends = steps.map(({ atMs, action }) => {
    if (action.kind === 'change') return atMs + (action.changes.noticeMs ?? 0) + lastsMsMax;
    if (action.kind !== 'schedule') return atMs;
    return atMs + Math.max(0, ...action.events.map(({ noticeMs, lastsMs }) => (noticeMs ?? 0) + lastsMs));
  });
  return Math.max(lastsMsMin, ...ends);
}
