// Says in a few words who may approve an event, what the rules of this VM do about it, and what it does to a VM.
import { type ApprovalDecision, type Idleness, isTermination, placeOf, type Refusal } from './approval.ts';
import type { ScheduledEvent } from './document.ts';
import { plainText } from './notice/plain-text.ts';
import { lengthText } from './notice/time-text.ts';

/** Who may approve an event, seen from one VM. @param vmName null when it is not known */
export function whoMayApprove(event: ScheduledEvent, vmName: string | null): string {
  const place = vmName === null ? null : placeOf(event.resources, vmName);
  if (vmName === null) return 'not known: the name of this VM is missing';
  if (place === null) return 'not this VM';
  if (place === 'alone') return 'this VM';
  if (isTermination(event)) return 'each VM only its own deletion';
  const first = plainText(event.resources[0]?.replace(/^_/, '') ?? '');
  if (place === 'first') return 'the first VM named: this one';
  return place === 'second'
    ? `the first VM named: ${first}; then the second: this one`
    : `the first VM named: ${first}, or the second`;
}

const idle: Readonly<Record<Idleness, string>> = {
  'not-scheduled': 'nothing to approve: it has started',
  approved: 'approved already',
  due: 'nothing to approve: it starts by itself now',
  'not-named': 'nothing: it does not name this VM',
  'others-first': 'nothing: the first or the second VM named does it',
};

const refusals: Readonly<Record<Refusal, string>> = {
  'no-rule': 'no rule fits',
  never: 'the rule says never',
  shared: 'it names other VMs, and the rule does not speak for them',
  'terminates-others': 'it deletes other VMs as well',
  'prepare-failed': 'a prepare hook failed',
};

/** What comes of a decision. @param now epoch ms */
export function whatComesOf(decision: ApprovalDecision, now: number): string {
  switch (decision.status) {
    case 'nothing':
      return idle[decision.why];
    case 'refused':
      return `refused: ${refusals[decision.reason]}${byRule(decision.rule)}`;
    case 'approve':
      return `approves at once${byRule(decision.rule)}`;
    case 'waiting':
      return `${waiting(decision, now)}${byRule(decision.rule)}`;
  }
}

const byRule = (rule: { readonly place: number } | null): string =>
  rule === null ? '' : ` (rule ${rule.place})`;

function waiting(decision: ApprovalDecision & { status: 'waiting' }, now: number): string {
  const { until } = decision;
  const rest = until === null ? '' : ` for up to ${lengthText(Math.ceil((until - now) / 1_000))}`;
  switch (decision.for) {
    case 'name':
      return 'waits until the name of this VM is known';
    case 'hooks':
      return 'waits for hooks';
    case 'election':
      return `leaves it to the first VM named${rest}`;
    case 'delivery':
      return `waits for sinks${rest}`;
  }
}

const effects: Readonly<Record<string, string>> = {
  freeze: 'pauses',
  reboot: 'restarts',
  redeploy: 'moves to another host, restarts, and loses its temporary disk',
  preempt: 'is taken away: it is a Spot VM',
  terminate: 'is deleted',
};

/** What the event does to each VM that it names. */
export function effectOf({ eventType, durationSeconds }: ScheduledEvent): string {
  const type = eventType.toLowerCase();
  const effect = Object.hasOwn(effects, type) ? effects[type] : undefined;
  if (effect === undefined) return `has its ${plainText(eventType) || 'event'}`;
  return type === 'freeze' && durationSeconds !== null
    ? `${effect} for about ${lengthText(durationSeconds)}`
    : effect;
}
