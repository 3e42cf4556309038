// Tells the story of an event in the order of time: who saw what, what agents did and measured, and who was told.
import type { TransitionKind } from './diff.ts';
import type { ApprovalDeed, Deed, HookDeed, ImpactDeed } from './read-deed.ts';
import type { AgentDeed, NotifiedFact, Telling, TimelineParts } from './timeline-parts.ts';

/** One thing that happened. */
export interface StoryLine {
  /** Epoch ms by the clock of whoever tells it. */
  readonly at: number;
  readonly kind: TransitionKind | Deed['family'] | 'notified';
  /** The VM that tells it, or the sink. */
  readonly who: string;
  readonly text: string;
  /** It follows from what was seen; nobody said it. */
  readonly inferred: boolean;
}

export function storyOf(parts: TimelineParts): StoryLine[] {
  const names = new Map(parts.agents.map(({ agentId, vmName }) => [agentId, vmName ?? agentId]));
  const nameOf = (agentId: string): string => names.get(agentId) ?? agentId;
  const lines = [
    ...factLines(parts, nameOf),
    ...parts.deeds.flatMap((deed) => deedLines(deed, nameOf(deed.agentId))),
    ...parts.notices.map(noticeLine),
  ];
  return lines.sort((one, other) => one.at - other.at || rank(one) - rank(other));
}

const kinds: readonly StoryLine['kind'][] = [
  ...(['scheduled', 'updated', 'hook', 'approval', 'started'] as const),
  ...(['completed', 'canceled', 'impact', 'notified'] as const),
];
const rank = ({ kind }: StoryLine): number => kinds.indexOf(kind);

type NameOf = (agentId: string) => string;

const sights: Readonly<Record<TransitionKind, string>> = {
  scheduled: 'saw it announced',
  updated: 'saw it changed',
  started: 'saw it started',
  completed: 'saw it gone, and takes it for completed',
  canceled: 'saw it gone before its time, and takes it for canceled',
};

function factLines({ tellings, event }: TimelineParts, nameOf: NameOf): StoryLine[] {
  const facts = new Map<string, Telling[]>();
  for (const telling of tellings) {
    const before = facts.get(telling.factId);
    if (before === undefined) facts.set(telling.factId, [telling]);
    else before.push(telling);
  }
  return [...facts.values()].flatMap((told) => {
    const [first] = told.toSorted(
      (one, other) => one.at - other.at || (one.agentId < other.agentId ? -1 : 1),
    );
    if (first === undefined) return [];
    const { at, transition: kind } = first;
    const others = new Set(told.map(({ agentId }) => agentId)).size - 1;
    const rest = others === 0 ? '' : `; so did ${others} more ${others === 1 ? 'VM' : 'VMs'}`;
    const isEnd = kind === 'completed' || kind === 'canceled';
    const inferred = isEnd && event.outcomeInferred;
    const sight = isEnd && !event.outcomeInferred ? `saw it called ${kind}` : sights[kind];
    return [{ at, kind, who: nameOf(first.agentId), text: `${sight}${rest}`, inferred }];
  });
}

function deedLines({ deed, firstAt, at }: AgentDeed, who: string): StoryLine[] {
  const line = (when: number, text: string): StoryLine => ({
    ...{ at: when, kind: deed.family, who, text, inferred: false },
  });
  switch (deed.family) {
    case 'approval':
      return [line(firstAt, approvalText(deed))];
    case 'impact':
      return [line(at, impactText(deed))];
    case 'hook': {
      const began = deed.startedAt === null ? [] : [line(deed.startedAt, `began ${hookName(deed)}`)];
      return deed.outcome === 'started' ? began : [...began, line(at, hookText(deed))];
    }
  }
}

const because = (reason: string | null): string => (reason === null ? '' : ` (${reason})`);

function approvalText({ decision, reason, actorKind, actorName, rule, answerStatus }: ApprovalDeed): string {
  const person = actorName === null ? 'a person' : actorName;
  const by = actorKind === 'person' ? `, as ${person} said` : rule === null ? '' : `, by rule ${rule}`;
  const answer = answerStatus === null ? '' : `; IMDS answered ${answerStatus}`;
  if (decision === 'approved') return `approved it${by}${answer}`;
  if (decision === 'refused') return `did not approve it${by}${because(reason)}`;
  return `could not approve it${by}${because(reason)}${answer}`;
}

const hookName = ({ phase, hook }: HookDeed): string => `the ${phase} hook ${hook}`;

const endings: Readonly<Record<string, string>> = {
  succeeded: 'ended well',
  failed: 'failed',
  'timed-out': 'ran out of time',
  interrupted: 'was interrupted',
  unknown: 'came to an end that nobody saw',
  'not-started': 'was not started',
};

function hookText(deed: HookDeed): string {
  const { outcome, durationMs, exitCode, signal, reason } = deed;
  const after = durationMs === null ? '' : ` after ${spanText(durationMs)}`;
  const code = exitCode === null || outcome === 'succeeded' ? '' : ` with code ${exitCode}`;
  const by = signal === null ? '' : ` by ${signal}`;
  return `${hookName(deed)} ${endings[outcome] ?? outcome}${after}${code}${by}${because(reason)}`;
}

function impactText({ kind, lowerMs, upperMs }: ImpactDeed): string {
  const bounds = lowerMs === null || upperMs === null ? '' : ` of ${boundsText(lowerMs, upperMs)}`;
  if (kind === 'none') return 'watched throughout, and felt nothing';
  if (kind === 'unknown') return 'cannot say what it felt: it was away for another reason';
  return `felt a ${kind}${bounds}`;
}

function noticeLine({ settledAt, at, sink, outcome, reason, attempts, facts }: NotifiedFact): StoryLine {
  const settled = Date.parse(settledAt);
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  const what = facts.length === 1 ? 'a notice' : `a notice of ${facts.length} facts`;
  const words = outcome === 'delivered' ? `took ${what}` : `did not get ${what}: ${outcome}`;
  return {
    ...{ at: Number.isNaN(settled) ? at : settled, kind: 'notified', who: sink, inferred: false },
    text: `${words}${because(reason)} after ${tries}`,
  };
}

// A unit, the next smaller one, and how many seconds each has.
const minutes = ['min', 's', 60, 1] as const;
const hours = ['h', 'min', 3_600, 60] as const;
const days = ['d', 'h', 86_400, 3_600] as const;

/** `2.2 s`, `35 s`, `14 min 45 s`, `3 h 20 min`, `6 d 23 h`: as exact as it helps. */
export function spanText(ms: number): string {
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const [unit, rest, size, part] = seconds < 3_600 ? minutes : seconds < 2 * 86_400 ? hours : days;
  const parts = Math.floor((seconds % size) / part);
  return `${Math.floor(seconds / size)} ${unit}${parts === 0 ? '' : ` ${parts} ${rest}`}`;
}

/** Bounds in words. */
export const boundsText = (lowerMs: number, upperMs: number): string =>
  spanText(lowerMs) === spanText(upperMs)
    ? spanText(upperMs)
    : `${spanText(lowerMs)} to ${spanText(upperMs)}`;
