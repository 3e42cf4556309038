// The notice of a hook that started or ended.
import type { HookOutcome } from '../deed.ts';
import type { HookRefusal } from '../hook-plan.ts';
import type { Notice, NoticeFact, NoticeTone } from '../notice.ts';
import { deedNotice, dueFacts, type ReportedDeed, reportedDeed } from './deed-facts.ts';
import { endOfLines } from './plain-text.ts';
import { child, numberAt, type ReportedRecord, wordsAt } from './reported.ts';
import { lengthText, readTime } from './time-text.ts';
import { factOf, timeFact } from './vm-facts.ts';

/** A hook as its record tells of it. */
interface ReportedHook {
  readonly deed: ReportedDeed;
  readonly isRecover: boolean;
  readonly outcome: string;
  /** The program without its folders. */
  readonly name: string;
  /** Such as `2 s`; null while it runs. */
  readonly length: string | null;
}

/** The notice of a hook record. */
export function hookNotice(record: ReportedRecord): Notice {
  const deed = reportedDeed(record);
  const { data } = deed;
  const path = wordsAt(data, 'hook');
  const hook: ReportedHook = {
    deed,
    isRecover: wordsAt(data, 'phase') === 'recover',
    outcome: wordsAt(data, 'outcome') ?? 'not known',
    name:
      path
        ?.split(/[\\/]/)
        .findLast((part) => part !== '')
        ?.trim() || 'a hook',
    length: lengthOf(data, 'durationMs'),
  };
  const { words, tone } = stateOf(hook);
  const stateText = `${hook.isRecover ? 'Recover' : 'Prepare'} hook ${words}`;
  return deedNotice(deed, {
    tone,
    stateText,
    headline: `${stateText}: ${howText(hook)}, for ${deed.what} on ${deed.vmText}`,
    what: `${hook.name} for ${deed.what}`,
    facts: factsOf(hook),
    description: outputOf(data),
    remarks: [consequenceOf(hook), truncationOf(data)],
  });
}

interface State {
  readonly words: string;
  readonly tone: NoticeTone;
}

const states: Readonly<Record<HookOutcome, State>> = {
  started: { words: 'started', tone: 'ongoing' },
  succeeded: { words: 'succeeded', tone: 'good' },
  failed: { words: 'failed', tone: 'alarming' },
  'timed-out': { words: 'timed out', tone: 'alarming' },
  interrupted: { words: 'interrupted', tone: 'alarming' },
  unknown: { words: 'ended unseen', tone: 'alarming' },
  'not-started': { words: 'not started', tone: 'alarming' },
};

const stateOf = ({ outcome }: ReportedHook): State =>
  Object.hasOwn(states, outcome) ? states[outcome as HookOutcome] : { words: outcome, tone: 'announced' };

function howText({ outcome, name, length, deed: { data } }: ReportedHook): string {
  const after = length === null ? '' : ` after ${length}`;
  if (outcome === 'succeeded') return `${name}${length === null ? '' : ` took ${length}`}`;
  if (outcome === 'timed-out') return `${name} was ended${after}`;
  const reason = reasonOf(data);
  if (outcome === 'not-started' && reason !== null) return `${name}, because ${reason}`;
  if (outcome !== 'failed') return name;
  const [exitCode, signal] = [numberAt(data, 'exitCode'), wordsAt(data, 'signal')];
  if (exitCode !== null) return `${name} exited with ${exitCode}${after}`;
  return signal === null ? `${name}${after}` : `${name} was ended by ${signal}${after}`;
}

const reasons: Readonly<Record<HookRefusal, string>> = {
  unsafe: 'others may change its program or a folder above it',
  missing: 'there is no such program',
  'not-executable': 'its program is not executable',
  unreadable: 'nobody can see whether its program is safe to run',
  'no-time-left': 'there is no time left before the event',
  'event-started': 'the event started first',
  'event-over': 'the event was over first',
};

function reasonOf(data: unknown): string | null {
  const reason = wordsAt(data, 'reason');
  if (reason === null) return null;
  return Object.hasOwn(reasons, reason) ? reasons[reason as HookRefusal] : `the system says ${reason}`;
}

function factsOf({ deed, isRecover, length }: ReportedHook): readonly NoticeFact[] {
  const { data } = deed;
  const ending = wordsAt(data, 'ending');
  const exitCode = numberAt(data, 'exitCode');
  return [
    ...factOf('Hook', wordsAt(data, 'hook')),
    ...timeFact('Started', readTime(child(data, 'startedAt'))),
    ...factOf('Took', length),
    ...factOf('Time-out', lengthOf(data, 'timeoutMs')),
    ...factOf('Exit code', exitCode === null ? null : String(exitCode)),
    ...factOf('Signal', wordsAt(data, 'signal')),
    ...(isRecover ? factOf('Event was', ending) : dueFacts(deed)),
  ];
}

/** What follows from a hook that did not do its work. */
function consequenceOf({ outcome, isRecover, deed }: ReportedHook): string | null {
  if (outcome === 'started' || outcome === 'succeeded') return null;
  const unseen = outcome === 'unknown' ? 'The agent was ended while it ran, and nobody saw its end. ' : '';
  const again = outcome === 'not-started' ? '' : 'It is not started again. ';
  return isRecover
    ? `${unseen}${again}See whether ${deed.vmText} is back at work.`
    : `${unseen}${again}No rule that waits for hooks approves the event now: Azure starts it by itself at its time.`;
}

const truncationOf = (data: unknown): string | null =>
  child(data, 'outputTruncated') === true ? 'It wrote more than is kept of it.' : null;

const outputLengthMax = 1_000;

function outputOf(data: unknown): { readonly speaker: string; readonly text: string } | null {
  const output = child(data, 'output');
  const text = typeof output === 'string' ? endOfLines(output, outputLengthMax) : '';
  return text === '' ? null : { speaker: 'The hook', text };
}

function lengthOf(data: unknown, name: string): string | null {
  const ms = numberAt(data, name);
  return ms === null || ms < 0 ? null : lengthText(ms / 1_000);
}
