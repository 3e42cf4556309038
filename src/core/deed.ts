// Makes the records of what the agent does about an event and what it measures of it: approvals, hooks and impact.
import { createHash } from 'node:crypto';
import type { ScheduledEvent } from './document.ts';
import type { Observer } from './observer.ts';
import {
  type AgentStamp,
  type BridgeRecord,
  correlationOf,
  envelope,
  type Severity,
  type Stamp,
  severityNumbers,
} from './record.ts';

/** What every record about a deed says about its event and its speaker. */
interface DeedData {
  readonly event: ScheduledEvent;
  readonly observer: Observer;
  readonly agent: AgentStamp;
}

/** Why an approval was given, refused, or failed. */
export type ApprovalReason =
  /** A rule says so. */
  | 'rule'
  /** A person says so. */
  | 'person'
  | 'no-rule'
  /** The rule that matches says `never`. */
  | 'never'
  /** The event names other VMs as well, and the rule does not speak for them. */
  | 'shared'
  /** A Terminate that names other VMs: each approves only its own. */
  | 'terminates-others'
  | 'prepare-failed'
  /** IMDS does not take the request. */
  | 'refused-by-imds'
  /** It went on being tried until the event had to start by itself. */
  | 'too-late'
  /** The event left the document, or was no longer to be approved from here, before the answer came. */
  | 'gone';

/** `data` of an approval record. */
export interface ApprovalData extends DeedData {
  readonly decision: 'approved' | 'refused' | 'failed';
  readonly reason: ApprovalReason;
  /** Who decided: the agent by its rules, or a person by hand. */
  readonly actor: { readonly kind: 'agent' | 'person'; readonly name: string | null };
  /** The rule that matched, counted from 1 as the file has them; null when a person decided or none matched. */
  readonly rule: { readonly place: number; readonly action: 'approve' | 'afterHooks' | 'never' } | null;
  /** As which of the VMs that the event names; null when nothing was to be sent. */
  readonly elected: 'alone' | 'first' | 'second' | 'person' | null;
  /** What IMDS said; null when it was not asked. */
  readonly answer: { readonly status: number | null; readonly attempts: number } | null;
  /** Data sinks that did not have the event's records when the deadline passed. */
  readonly undelivered: readonly string[];
}

export type HookPhase = 'prepare' | 'recover';

/** How a hook stands. `unknown`: the agent was ended while it ran, and nobody saw its end. */
export type HookOutcome =
  | 'started'
  | 'succeeded'
  | 'failed'
  | 'timed-out'
  | 'interrupted'
  | 'unknown'
  | 'not-started';

/** `data` of a hook record. */
export interface HookData extends DeedData {
  readonly phase: HookPhase;
  /** Names the hook among those of its phase: the path of its program. */
  readonly hook: string;
  readonly outcome: HookOutcome;
  /** Why it was not started; null otherwise. */
  readonly reason: string | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** RFC 3339 UTC. */
  readonly startedAt: string | null;
  readonly durationMs: number | null;
  readonly timeoutMs: number | null;
  /** The beginning and the end of what it wrote; null while it runs. */
  readonly output: string | null;
  readonly outputTruncated: boolean;
  /** How the event ended, for a recover. */
  readonly ending: 'completed' | 'canceled' | null;
}

/** Between which bounds something lasted. */
export interface Bounds {
  readonly lowerMs: number;
  readonly upperMs: number;
}

/** `data` of an impact record: what one VM felt of an event. */
export interface ImpactData extends DeedData {
  /** `none`: watched throughout, and nothing was felt. `unknown`: the agent was away for another reason. */
  readonly kind: 'none' | 'pause' | 'reboot' | 'unknown';
  /** The longest pause, or the reboot; null when unknown. */
  readonly measured: Bounds | null;
  readonly advertisedSeconds: number | null;
  /** When this VM was watched for it: RFC 3339 UTC. */
  readonly window: { readonly from: string; readonly to: string };
  /** Each pause, the longest ones when there are many. */
  readonly pauses: readonly (Bounds & { readonly at: string })[];
  readonly reboot: {
    readonly lastTickAt: string;
    readonly firstTickAt: string;
    readonly bootIdBefore: string;
    readonly bootIdAfter: string;
  } | null;
  readonly moved: {
    /** `gone`: the disk that does not survive a move is another one now. */
    readonly temporaryDisk: 'kept' | 'gone' | 'unknown';
    readonly faultDomain: { readonly before: string | null; readonly after: string | null };
  };
}

type Family = 'approval' | 'hook' | 'impact';

/** What a deed's record says, without its speaker. */
export type Told<Data extends DeedData> = Omit<Data, 'observer' | 'agent'>;

export const approvalRecord = (
  at: number,
  data: Told<ApprovalData>,
  stamp: Stamp,
): BridgeRecord<ApprovalData> =>
  deedRecord('approval', { at, severity: isAsWanted(data) ? 'INFO' : 'WARN' }, data, stamp);

/** Whether an approval went as the rules want it: given, or withheld by them. */
export const isAsWanted = ({ decision, reason }: Pick<ApprovalData, 'decision' | 'reason'>): boolean =>
  decision === 'approved' || (decision === 'refused' && (reason === 'no-rule' || reason === 'never'));

const fine: readonly HookOutcome[] = ['started', 'succeeded'];

export const hookRecord = (at: number, data: Told<HookData>, stamp: Stamp): BridgeRecord<HookData> =>
  deedRecord('hook', { at, severity: fine.includes(data.outcome) ? 'INFO' : 'ERROR' }, data, stamp);

export const impactRecord = (at: number, data: Told<ImpactData>, stamp: Stamp): BridgeRecord<ImpactData> =>
  deedRecord('impact', { at, severity: 'INFO' }, data, stamp);

/** Its id names the event first, then who did it: two VMs never do the same deed. */
function deedRecord<Data extends DeedData>(
  family: Family,
  { at, severity }: { readonly at: number; readonly severity: Severity },
  data: Omit<Data, 'observer' | 'agent'> & Pick<DeedData, 'event'>,
  stamp: Stamp,
): BridgeRecord<Data> {
  const key = correlationOf(data.event.eventId);
  const who = createHash('sha256').update(stamp.agent.instanceId, 'utf8').digest('hex').slice(0, 12);
  return {
    ...envelope(family, family, stamp),
    id: `${key}_${family}_${who}_${stamp.agent.sequence}`,
    time: new Date(at).toISOString(),
    correlationid: key,
    partitionkey: key,
    severitytext: severity,
    severitynumber: severityNumbers[severity],
    data: { ...data, observer: stamp.observer, agent: stamp.agent } as unknown as Data,
  };
}
