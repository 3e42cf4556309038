// Judges the trail as a whole: seals, anchors, agents, projections and how old it all is.
import { localStreams } from '../../core/stream.ts';
import type { SourceFaultKind } from '../store.ts';
import type { AnchorStanding } from './anchor-check.ts';
import { rangeText } from './stream-pass.ts';
import type { Checking, Verification } from './verify.ts';

/** Two hours: a seal is due each hour, whatever happens. */
export const maxAgeMsUsual = 2 * 60 * 60_000;
const unsealedMsUsual = 5 * 60_000;
// What an agent sent a moment ago may still be on its way in another partition.
const underWayMs = 60_000;

export async function concludeTrail(
  checking: Checking,
  anchors: AnchorStanding,
): Promise<Verification['projections']> {
  checkIdentity(checking);
  checkUnsealed(checking);
  checkAnchorAge(checking, anchors);
  checkAgents(checking);
  tellPruned(checking);
  checkRange(checking);
  checkAge(checking);
  const projections = await checkProjections(checking);
  // A copy in files says what else it holds once all of it was read.
  checkFaults(checking);
  return projections;
}

/** Whether the trail's own id, its journal and its seals belong together. */
function checkIdentity({ source, walks, facts, findings }: Checking): void {
  for (const { stream, index } of facts.unreadable) {
    findings.add('journal-unreadable', {
      stream,
      index,
      text: `entry ${index} of ${stream} is no fact that this version knows`,
    });
  }
  const known = new Set(facts.trails.flatMap((trail) => Object.values(localStreams(trail))));
  for (const { pass } of walks.values()) {
    const { name, kind } = pass.stream;
    if (kind === 'hub' || known.has(name)) continue;
    const text = `${name} is not of the trail ${source.trail}, and its journal tells of no copy that was put back`;
    findings.add('trail-changed', { stream: name, text });
  }
}

function checkUnsealed(checking: Checking): void {
  const { walks, findings, facts, seals, options, counted } = checking;
  const { now, maxAgeMs, unsealedMsMax = unsealedMsUsual } = options;
  // A copy is as old as what it tells of.
  const moment = maxAgeMs === null ? Math.max(counted.newestAt ?? 0, facts.lastAt ?? 0) : now;
  const since = seals.newestAt ?? facts.firstAt ?? Number.NEGATIVE_INFINITY;
  for (const { pass, sealedSize } of walks.values()) {
    const { name, kind } = pass.stream;
    if (kind === 'seal' || pass.size <= sealedSize) continue;
    const isQuiet = kind === 'journal' && (facts.lastNews.get(name) ?? -1) < sealedSize;
    const entries = rangeText(sealedSize, pass.size - 1, 'entry', 'entries');
    const isDue = moment - since > unsealedMsMax && !isQuiet;
    const isOne = pass.size === sealedSize + 1;
    const state = isDue
      ? `${isOne ? 'is' : 'are'} sealed by nothing`
      : `${isOne ? 'waits' : 'wait'} for the next seal`;
    const text = `${entries} of ${name} ${state}`;
    findings.add(isDue ? 'unsealed' : 'unsealed-yet', { stream: name, index: sealedSize, text });
  }
}

function checkAnchorAge(
  { findings, seals, options, walks, facts }: Checking,
  { newest }: AnchorStanding,
): void {
  if (newest === null || findings.has('trail-cut')) return;
  const limitMs = options.maxAgeMs ?? maxAgeMsUsual;
  const current = facts.trails.at(-1);
  const name = current === undefined ? '' : localStreams(current).seal;
  const behindMs = (seals.newestAt ?? 0) - newest.at;
  if (behindMs <= limitMs) return;
  const size = walks.get(name)?.pass.size ?? 0;
  const text = `the newest anchored head has ${newest.size} of ${size} seals, and what came after it is ${Math.round(behindMs / 60_000)} minutes of trail`;
  findings.add('anchor-behind', { stream: name, index: newest.size, text });
}

function checkAgents({ findings, ledger, counted }: Checking): void {
  for (const { agentId, vmName, from, to, at } of ledger.holes()) {
    const numbers = rangeText(from, to, 'record', 'records');
    const text = `${numbers} of agent ${agentId}${vmName === null ? '' : ` on ${vmName}`}`;
    if (counted.newestPrunedAt !== null && at <= counted.newestPrunedAt + underWayMs) {
      findings.add('agent-before-pruning', { at, text: `${text} may have been pruned` });
    } else if (at > (counted.newestAt ?? at) - underWayMs) {
      findings.add('agent-under-way', { at, text: `${text} may still be under way` });
    } else {
      findings.add('agent-hole', { at, text: `${text} never came here, although later ones did` });
    }
  }
  for (const { vm, agents } of ledger.installedAnew()) {
    findings.add('agent-anew', {
      text: `${agents} installations spoke for ${vm}: what an earlier one had to say after its last record cannot be told`,
    });
  }
}

function tellPruned({ findings, counted: { pruned } }: Checking): void {
  if (pruned === 0) return;
  const text = `${pruned} ${pruned === 1 ? 'body is' : 'bodies are'} pruned, and what stands of them is proven by their hashes alone`;
  findings.add('pruned', { text });
}

function checkRange({ findings, counted, options }: Checking): void {
  if (counted.inRange > 0) return;
  const text =
    counted.entries === 0
      ? 'the trail holds no entry of any hub'
      : 'no entry lies in the time that was asked for';
  if (counted.entries === 0 || options.range !== undefined) findings.add('nothing-in-range', { text });
}

function checkAge({ findings, seals, options: { now, maxAgeMs } }: Checking): void {
  if (maxAgeMs === null || seals.newestAt === null) return;
  const ageMs = now - seals.newestAt;
  if (ageMs <= maxAgeMs) return;
  const text = `the newest seal is ${Math.round(ageMs / 60_000)} minutes old, and one is due each hour`;
  findings.add('stale', { text });
}

async function checkProjections({
  source,
  findings,
  options,
}: Checking): Promise<Verification['projections']> {
  if (source.check === null) {
    findings.add('projections-absent', { text: 'this copy holds no projections' });
    return 'none';
  }
  if (options.projections === false) {
    findings.add('projections-absent', { text: 'the projections were not compared, as was asked for' });
    return 'not-asked';
  }
  options.signal.throwIfAborted();
  const { different, pruned } = await source.check();
  for (const name of different) {
    const text = `the projection ${name} is not what the entries give`;
    if (pruned === 0) findings.add('projection-differs', { text });
    else findings.add('projection-unproven', { text: `${text}, of which ${pruned} have no body any more` });
  }
  return different.length === 0 ? 'same' : 'different';
}

const faultCodes: Readonly<Partial<Record<SourceFaultKind, 'copy-torn' | 'foreign-file'>>> = {
  'torn-line': 'copy-torn',
  'foreign-file': 'foreign-file',
};

const faultWords: Readonly<Record<SourceFaultKind, string>> = {
  'unreadable-line': 'holds a line that is no entry',
  'rewritten-line': 'holds an entry in other words than this program writes',
  'endless-line': 'holds a line longer than any entry',
  'torn-line': 'ends in the middle of a line',
  'misplaced-file': 'holds an entry of another day, or lies under another name',
  'foreign-file': 'is no part of a copy of a trail',
  'unreadable-note': 'holds bytes between signed heads that are none',
  'no-identity': 'does not say whose copy this is',
};

function checkFaults({ source, findings }: Checking): void {
  for (const { kind, place, stream } of source.faults?.() ?? []) {
    const text = `${place} ${faultWords[kind]}`;
    findings.add(faultCodes[kind] ?? 'copy-damaged', { ...(stream === null ? {} : { stream }), text });
  }
}
