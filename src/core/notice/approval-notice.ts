// The notice of an approval that was given, refused or failed.
import type { ApprovalData, ApprovalReason } from '../deed.ts';
import type { Notice, NoticeFact, NoticeTone } from '../notice.ts';
import { deedNotice, dueFacts, type ReportedDeed, reportedDeed } from './deed-facts.ts';
import { listText } from './event-changes.ts';
import { child, numberAt, type ReportedRecord, wordsAt } from './reported.ts';
import { utcText } from './time-text.ts';
import { factOf, timeFact } from './vm-facts.ts';

/** What was decided about an event, in words. */
interface ReportedApproval {
  readonly deed: ReportedDeed;
  readonly decision: string;
  readonly reason: string | null;
  /** Such as `rule 2` or `alice`; null when neither is known. */
  readonly decider: string | null;
  /** Such as `HTTP 400`; null when IMDS was not asked or did not answer. */
  readonly answer: string | null;
}

/** The notice of an approval record. */
export function approvalNotice(record: ReportedRecord): Notice {
  const deed = reportedDeed(record);
  const { data } = deed;
  const status = numberAt(child(data, 'answer'), 'status');
  const approval: ReportedApproval = {
    deed,
    decision: wordsAt(data, 'decision') ?? 'not known',
    reason: wordsAt(data, 'reason'),
    decider: deciderOf(data),
    answer: status === null ? null : `HTTP ${status}`,
  };
  const { stateText, tone } = stateOf(approval);
  return deedNotice(deed, {
    tone,
    stateText,
    headline: headlineOf(approval, stateText),
    what: deed.what,
    facts: factsOf(approval),
    remarks: [adviceOf(approval), unheardOf(data)],
  });
}

const states: ReadonlyMap<string, string> = new Map<ApprovalData['decision'], string>([
  ['approved', 'Approved'],
  ['refused', 'Not approved'],
  ['failed', 'Approval failed'],
]);

function stateOf({ decision, reason }: ReportedApproval): { stateText: string; tone: NoticeTone } {
  return { stateText: states.get(decision) ?? 'Approval', tone: toneOf(decision, reason) };
}

function toneOf(decision: string, reason: string | null): NoticeTone {
  if (decision === 'approved') return 'ongoing';
  if (reason === 'gone') return 'quiet';
  return decision === 'failed' || reason === 'prepare-failed' ? 'alarming' : 'announced';
}

function deciderOf(data: unknown): string | null {
  const actor = child(data, 'actor');
  if (wordsAt(actor, 'kind') === 'person') return wordsAt(actor, 'name') ?? 'a person';
  const place = numberAt(child(data, 'rule'), 'place');
  return place === null ? null : `rule ${place}`;
}

function headlineOf(approval: ReportedApproval, stateText: string): string {
  const { deed, decision, decider } = approval;
  if (decision === 'approved') {
    return `${stateText}${decider === null ? '' : ` by ${decider}`}: ${deed.whatOnVms} starts now`;
  }
  const because = becauseOf(approval);
  return `${stateText}: ${deed.whatOnVms}${because === null ? '' : `, because ${because}`}`;
}

type Because = (approval: ReportedApproval) => string;

const causes: ReadonlyMap<string, Because> = new Map<ApprovalReason, Because>([
  ['no-rule', () => 'no rule fits it'],
  ['never', ({ decider }) => `${decider ?? 'a rule'} says never`],
  ['shared', () => 'it names other VMs too'],
  ['terminates-others', () => 'it would delete other VMs too'],
  ['prepare-failed', () => 'a prepare hook failed'],
  [
    'refused-by-imds',
    ({ answer }) => `the metadata service refuses it${answer === null ? '' : ` (${answer})`}`,
  ],
  ['too-late', () => 'its time came before the metadata service took the request'],
  ['gone', () => 'the event was gone first'],
]);

function becauseOf(approval: ReportedApproval): string | null {
  const { reason } = approval;
  const cause = causes.get(reason ?? '');
  return cause === undefined ? reason : cause(approval);
}

function factsOf({ deed, decision }: ReportedApproval): readonly NoticeFact[] {
  const { data, at } = deed;
  const approved = decision === 'approved';
  return [
    ...timeFact(approved ? 'Approved' : 'Decided', at),
    ...(approved ? [] : dueFacts(deed)),
    ...factOf('Decided by', actorText(data)),
    ...factOf('Rule', ruleText(data)),
    ...factOf('Sent as', electedText(data)),
    ...factOf('Metadata service', answerText(data)),
  ];
}

function actorText(data: unknown): string | null {
  const actor = child(data, 'actor');
  const name = wordsAt(actor, 'name');
  const kind = wordsAt(actor, 'kind');
  if (kind === 'person') return `${name ?? 'A person'}, by hand`;
  return kind === 'agent' ? 'The agent, by its rules' : name;
}

const actions: ReadonlyMap<string, string> = new Map([
  ['approve', 'approve at once'],
  ['afterHooks', 'approve after the prepare hooks'],
  ['never', 'never approve'],
]);

function ruleText(data: unknown): string | null {
  const rule = child(data, 'rule');
  const place = numberAt(rule, 'place');
  if (place === null) return null;
  const action = wordsAt(rule, 'action');
  return action === null ? String(place) : `${place}: ${actions.get(action) ?? action}`;
}

const elections: ReadonlyMap<string, string> = new Map([
  ['alone', 'The only VM that the event names'],
  ['first', 'The first VM that the event names'],
  ['second', 'The second VM that the event names: the first did not approve in time'],
  ['person', 'The VM on which it was approved by hand'],
]);

function electedText(data: unknown): string | null {
  const elected = wordsAt(data, 'elected');
  return elected === null ? null : (elections.get(elected) ?? elected);
}

function answerText(data: unknown): string | null {
  const answer = child(data, 'answer');
  const attempts = numberAt(answer, 'attempts');
  if (attempts === null || attempts < 1) return null;
  const status = numberAt(answer, 'status');
  const times = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
  return `${status === null ? 'No answer' : `HTTP ${status}`} after ${times}`;
}

/** What a person can do now, where there is something. */
function adviceOf({ deed, reason, decision }: ReportedApproval): string | null {
  if (decision === 'approved') return null;
  const start = startText(deed);
  if (reason === 'gone') return 'There is nothing to approve any more.';
  if (reason === 'too-late') return start;
  if (reason === 'terminates-others') return `Each VM approves only its own deletion. ${start}`;
  const byHand = `To let it start sooner, run "seb approve ${deed.eventId ?? 'EVENT_ID'}" on ${deed.vmText}.`;
  const before = reason === 'prepare-failed' ? 'See why the hook failed, and make the VM ready. ' : '';
  return `${before}${byHand} ${start}`;
}

const startText = ({ details: { notBefore } }: ReportedDeed): string =>
  notBefore === null
    ? 'Azure starts the event by itself.'
    : `Azure starts the event by itself at or after ${utcText(notBefore)}.`;

const sinksMax = 100;

function unheardOf(data: unknown): string | null {
  const sinks = child(data, 'undelivered');
  if (!Array.isArray(sinks)) return null;
  const names = [...sinks.slice(0, sinksMax).keys()]
    .map((index) => wordsAt(sinks, String(index)))
    .filter((name) => name !== null);
  return names.length === 0
    ? null
    : `The approval waited no longer for these sinks, which did not have the event's records yet: ${listText(names).replace(/VMs$/, 'sinks')}.`;
}
