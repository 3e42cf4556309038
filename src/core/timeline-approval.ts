// Who let an event begin, as far as that is known: an approver's record, or what follows from when it started.
import { dueAt, isFinal, startedUnannounced } from './event-course.ts';
import type { ApprovalDeed } from './read-deed.ts';
import { type Figure, figure, unknownFigure } from './timeline-figure.ts';
import type { AgentDeed, TimelineParts } from './timeline-parts.ts';

/**
 * By which way. `agent-post`: an agent, by its rules. `person`: somebody by hand, through an agent's VM. `policy-auto`:
 * the VM's policy approves such events by itself. `not-before-elapsed`: nobody, it began when it was due.
 * `hardware-failure`: nobody, it began without notice. `unknown`: somebody else, or nobody knows.
 */
export type ApprovalWay =
  | 'agent-post'
  | 'person'
  | 'policy-auto'
  | 'not-before-elapsed'
  | 'hardware-failure'
  | 'unknown';

export interface Approved {
  /** Epoch ms; null when only the way is known. */
  readonly at: number | null;
  /** The VM or the person; null when nobody did, or nobody knows who. */
  readonly by: string | null;
  readonly via: ApprovalWay;
}

// Agents ask once a second, and their clocks are a little apart.
const apartMs = 10_000;

export function approvedFigure(parts: TimelineParts): Figure<Approved> {
  const { event } = parts;
  const own = ownApproval(parts);
  // An approval that came after the start let nothing begin.
  const startedAt = event.startedAt ?? Number.POSITIVE_INFINITY;
  if (own !== null && own.firstAt <= startedAt + apartMs) return saidBy(parts, own);
  if (event.startedAt === null) {
    const isMissed = event.outcome === 'missed-start';
    return unknownFigure(
      isMissed ? 'nobody saw it start' : 'it has not started, and no agent here approved it',
    );
  }
  return inferred(parts, event.startedAt);
}

type OwnApproval = AgentDeed & { readonly deed: ApprovalDeed };

const isApproval = (deed: AgentDeed): deed is OwnApproval =>
  deed.deed.family === 'approval' && deed.deed.decision === 'approved';

function ownApproval({ deeds }: TimelineParts): OwnApproval | null {
  const given = deeds.filter(isApproval).sort((one, other) => one.firstAt - other.firstAt);
  return given[0] ?? null;
}

function saidBy({ agents }: TimelineParts, { agentId, firstAt, deed }: OwnApproval): Figure<Approved> {
  const vm = agents.find((agent) => agent.agentId === agentId)?.vmName ?? agentId;
  const isPerson = deed.actorKind === 'person';
  const by = isPerson && deed.actorName !== null ? `${deed.actorName} on ${vm}` : vm;
  const rule = deed.rule === null ? '' : ` by rule ${deed.rule}`;
  return figure(
    { at: firstAt, by, via: isPerson ? 'person' : 'agent-post' },
    'said',
    isPerson ? 'its record says so' : `its record says so${rule}`,
  );
}

function inferred({ event }: TimelineParts, startedAt: number): Figure<Approved> {
  const nobody = (via: ApprovalWay, because: string, at: number | null = null): Figure<Approved> =>
    figure({ at, by: null, via }, 'inferred', because);
  if (startedUnannounced(event)) {
    const source = event.eventSource?.toLowerCase();
    if (source === 'user') return nobody('policy-auto', 'a user asked for it, and it was first seen started');
    if (isFinal(event))
      return nobody('unknown', 'it was first seen started: its notice may have passed between two looks');
    if (source === 'platform')
      return nobody('hardware-failure', 'the platform began it, and it was first seen started');
    return nobody('unknown', 'it was first seen started, and its source is not known');
  }
  const due = dueAt(event);
  if (due === null) return nobody('unknown', 'no time was announced');
  if (startedAt >= due - apartMs)
    return nobody('not-before-elapsed', 'it began when it was due, and no agent here approved it', due);
  const early = Math.round((due - startedAt) / 1_000);
  return nobody(
    'unknown',
    `it began ${early} s before it was due, and no agent here approved it: somebody else did, as through Azure Resource Manager`,
  );
}
