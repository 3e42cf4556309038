// Decides whether this VM may tell Azure to go ahead with an event: by the event, the rules, and who is to do it.
import type { ApprovalData } from './deed.ts';
import { canonicalName, type ScheduledEvent } from './document.ts';

/** One rule, as the settings have it. */
export interface ApprovalRule {
  readonly match: {
    /** Any case. */
    readonly types?: readonly string[];
    /** Any case. */
    readonly sources?: readonly string[];
    /** Ms, inclusive. */
    readonly maxDuration?: number;
    readonly resources?: 'own' | 'shared' | 'any';
    readonly affected?: boolean;
  };
  readonly action: 'approve' | 'afterHooks' | 'never';
}

/** What approving goes by. */
export interface ApprovalPolicy {
  /** The first that fits decides. */
  readonly rules: readonly ApprovalRule[];
  /** Ms from the first sight of the event, or its last change, for which its records may take to every data sink. */
  readonly deliveryTimeout: number;
  /** Ms from the first sight of the event, after which the second VM named stands in for the first. */
  readonly secondAfter: number;
}

/** An event, and all that has a say in its approval. */
export interface ApprovalSubject {
  readonly event: ScheduledEvent;
  /** The last `notBefore` known. */
  readonly notBefore: string | null;
  /** Epoch ms of this VM's own first sight of it. */
  readonly firstSeenAt: number;
  /** Epoch ms at which it was last seen changed; never unless given. */
  readonly changedAt?: number | undefined;
  /** Whether this VM approved it already. */
  readonly approved: boolean;
  /** Null while it is not known. */
  readonly vmName: string | null;
  /** How its prepare hooks stand; `none`: it has none. */
  readonly preparation: 'none' | 'pending' | 'succeeded' | 'failed';
  /** The data sinks that do not have its records yet. */
  readonly undelivered: readonly string[];
}

/** The rule that decided, counted from 1. */
export type MatchedRule = NonNullable<ApprovalData['rule']>;

/** Which of the VMs that an event names one is; `later`: neither the first nor the second. */
export type Place = 'alone' | 'first' | 'second' | 'later';

/** Why there is nothing to decide here. */
export type Idleness = 'not-scheduled' | 'approved' | 'due' | 'not-named' | 'others-first';

/** Why an event is not approved. */
export type Refusal = 'no-rule' | 'never' | 'shared' | 'terminates-others' | 'prepare-failed';

/** What is to be done about an event now. */
export type ApprovalDecision =
  | { readonly status: 'nothing'; readonly why: Idleness }
  | { readonly status: 'refused'; readonly reason: Refusal; readonly rule: MatchedRule | null }
  | {
      readonly status: 'waiting';
      readonly for: 'name' | 'hooks' | 'election' | 'delivery';
      /** Epoch ms at which the wait is over at the latest; null when nobody knows. */
      readonly until: number | null;
      readonly rule: MatchedRule | null;
    }
  | {
      readonly status: 'approve';
      readonly rule: MatchedRule;
      readonly elected: 'alone' | 'first' | 'second';
      /** The data sinks that did not have the event's records when the deadline had passed. */
      readonly undelivered: readonly string[];
    };

/**
 * Decides about one event. An approval counts for every VM that the event names, so the first VM named gives it, and
 * the second only when the first seems to be dead; but each VM approves only its own deletion.
 * Source: Azure's pages on Scheduled Events, "Approve events", and on terminate notifications.
 * @param now epoch ms
 */
export function decideApproval(
  subject: ApprovalSubject,
  policy: ApprovalPolicy,
  now: number,
): ApprovalDecision {
  const why = settledBy(subject, now);
  if (why !== null) return { status: 'nothing', why };
  if (subject.vmName === null) return { status: 'waiting', for: 'name', until: null, rule: null };
  const place = placeOf(subject.event.resources, subject.vmName);
  if (place === null) return { status: 'nothing', why: 'not-named' };
  if (place === 'later') return { status: 'nothing', why: 'others-first' };
  const found = policy.rules.findIndex((rule) => fits(rule, subject.event, place));
  const rule = policy.rules[found];
  if (rule === undefined) return { status: 'refused', reason: 'no-rule', rule: null };
  const matched = { place: found + 1, action: rule.action };
  const reason = refusalOf(rule, subject, place);
  if (reason !== null) return { status: 'refused', reason, rule: matched };
  return inTime(subject, policy, { rule: matched, place }, now);
}

/**
 * Which of the VMs named this one is, by the names as `names` compares them; null when it is none of them. A VM that
 * is named twice is one VM.
 */
export function placeOf(resources: readonly string[], vmName: string): Place | null {
  const named = [...new Set(resources.map(canonicalName))];
  const index = named.indexOf(canonicalName(vmName));
  if (index === -1) return null;
  if (named.length === 1) return 'alone';
  return index === 0 ? 'first' : index === 1 ? 'second' : 'later';
}

/** Whether the event is the announced deletion of a VM. */
export const isTermination = ({ eventType }: ScheduledEvent): boolean =>
  eventType.toLowerCase() === 'terminate';

function settledBy(
  { event, notBefore, approved }: Pick<ApprovalSubject, 'event' | 'notBefore' | 'approved'>,
  now: number,
): 'not-scheduled' | 'approved' | 'due' | null {
  if (event.eventStatus.toLowerCase() !== 'scheduled') return 'not-scheduled';
  if (approved) return 'approved';
  // From then on it starts by itself.
  const startsAt = event.notBefore ?? notBefore;
  return startsAt !== null && now >= Date.parse(startsAt) ? 'due' : null;
}

function fits({ match }: ApprovalRule, event: ScheduledEvent, place: Place): boolean {
  const { types, sources, maxDuration, resources = 'any', affected = true } = match;
  return (
    isAmong(event.eventType, types) &&
    isAmong(event.eventSource, sources) &&
    isWithin(event.durationSeconds, maxDuration) &&
    (resources === 'any' || (resources === 'own') === (place === 'alone')) &&
    affected
  );
}

function isAmong(value: string | null, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || wanted.some((each) => each.toLowerCase() === value?.toLowerCase());
}

function isWithin(durationSeconds: number | null, maxMs: number | undefined): boolean {
  return maxMs === undefined || (durationSeconds !== null && durationSeconds * 1_000 <= maxMs);
}

function refusalOf(rule: ApprovalRule, subject: ApprovalSubject, place: Place): Refusal | null {
  if (rule.action === 'never') return 'never';
  if (place !== 'alone' && isTermination(subject.event)) return 'terminates-others';
  if (rule.action === 'approve') return null;
  if (place !== 'alone' && rule.match.resources === undefined) return 'shared';
  return subject.preparation === 'failed' ? 'prepare-failed' : null;
}

interface Elected {
  readonly rule: MatchedRule;
  readonly place: 'alone' | 'first' | 'second';
}

/** All that is left is time. */
function inTime(
  { preparation, firstSeenAt, changedAt, undelivered }: ApprovalSubject,
  { secondAfter, deliveryTimeout }: ApprovalPolicy,
  { rule, place }: Elected,
  now: number,
): ApprovalDecision {
  if (rule.action === 'afterHooks' && preparation === 'pending') {
    return { status: 'waiting', for: 'hooks', until: null, rule };
  }
  const standInAt = firstSeenAt + secondAfter;
  if (place === 'second' && now < standInAt) {
    return { status: 'waiting', for: 'election', until: standInAt, rule };
  }
  const deadline = (changedAt ?? firstSeenAt) + deliveryTimeout;
  if (undelivered.length > 0 && now < deadline) {
    return { status: 'waiting', for: 'delivery', until: deadline, rule };
  }
  return { status: 'approve', rule, elected: place, undelivered };
}

/** Why a person may not approve an event from this VM; null when he may. */
export type HandRefusal = 'not-scheduled' | 'due' | 'not-named' | 'terminates-others';

/**
 * Whether a person may approve an event by hand, whatever the rules and the election say: only one that names this
 * VM, that has not begun, and no deletion of others.
 * @param now epoch ms
 */
export function refusalByHand(
  subject: Pick<ApprovalSubject, 'event' | 'notBefore'> & { readonly vmName: string },
  now: number,
): HandRefusal | null {
  const { event, vmName } = subject;
  const place = placeOf(event.resources, vmName);
  if (place === null) return 'not-named';
  const settled = settledBy({ ...subject, approved: false }, now);
  if (settled === 'not-scheduled' || settled === 'due') return settled;
  return place !== 'alone' && isTermination(event) ? 'terminates-others' : null;
}
