// Checks a trail: one pass over each stream, led by the seals, and then everything that the passes came to.
import { AgentLedger } from '../../core/agent-ledger.ts';
import { always, type FindingCode, Findings, isWithin, type TimeRange } from '../../core/finding.ts';
import { readRecord } from '../../core/read-record.ts';
import type { VerifierKey } from '../../core/signed-note.ts';
import { localStreams } from '../../core/stream.ts';
import type { SourceStream, StoredEntry, TrailSource } from '../store.ts';
import { type AnchorStanding, anchorClaims } from './anchor-check.ts';
import type { AnchorCopy } from './anchors.ts';
import { newStanding, openClaims } from './claims.ts';
import { concludeStreams } from './conclude.ts';
import { concludeTrail } from './conclude-trail.ts';
import { covers, type JournalFacts, prunedIndexes, readJournals } from './journal-facts.ts';
import { pruneClaims } from './prune-claims.ts';
import { openSealReader, type SealReader, type SealStanding, type Walk } from './seal-pass.ts';
import { type Claim, openPass, rangeText } from './stream-pass.ts';

export interface VerifyOptions {
  readonly keys: readonly VerifierKey[];
  readonly anchors: readonly AnchorCopy[];
  /** Epoch ms. */
  readonly now: number;
  /** What is incomplete outside of it is a note; everything is recomputed all the same. */
  readonly range?: TimeRange;
  readonly accept?: ReadonlySet<FindingCode>;
  /** How old the newest seal may be; null when that does not matter, as with an old copy. */
  readonly maxAgeMs: number | null;
  /** How long entries may wait for a seal. */
  readonly unsealedMsMax?: number;
  /** Whether the projections are compared with the entries, where there are any. */
  readonly projections?: boolean;
  readonly signal: AbortSignal;
}

/** What was counted on the way. */
export interface Counted {
  /** Entries of hubs, and those within the range that was asked for. */
  entries: number;
  inRange: number;
  /** When the hub stored the first and the last of those in range, epoch ms. */
  firstAt: number | null;
  lastAt: number | null;
  /** When the hub stored the newest of all. */
  newestAt: number | null;
  pruned: number;
  newestPrunedAt: number | null;
  parked: number;
}

/** What the check came to. */
export interface Verification {
  readonly place: string;
  readonly trail: string | null;
  readonly findings: Findings;
  readonly counted: Counted;
  readonly walks: ReadonlyMap<string, Walk>;
  readonly ledger: AgentLedger;
  readonly seals: SealStanding;
  readonly anchors: AnchorStanding;
  readonly facts: JournalFacts;
  readonly projections: 'same' | 'different' | 'none' | 'not-asked';
}

/** All that the parts of a check share. */
export interface Checking {
  readonly source: TrailSource;
  readonly options: VerifyOptions;
  readonly findings: Findings;
  readonly facts: JournalFacts;
  readonly counted: Counted;
  readonly ledger: AgentLedger;
  readonly seals: SealStanding;
  readonly walks: Map<string, Walk>;
  readonly readers: Map<string, SealReader>;
}

/**
 * Checks a trail as the source shows it.
 * @throws TrailUnusable when it cannot be read, and the signal's reason
 */
export async function verifyTrail(source: TrailSource, options: VerifyOptions): Promise<Verification> {
  const { range = always, accept = new Set(), signal, now } = options;
  const findings = new Findings({ range, accept });
  const facts = await readJournals(source, signal);
  const { standing: anchors, claims } = anchorClaims(options.anchors, options.keys, facts, findings);
  const seals: SealStanding = { seals: 0, firstAt: null, newestAt: null };
  const checking: Checking = {
    ...{ source, options, findings, facts, seals },
    ...{ counted: nothing(), ledger: new AgentLedger(), walks: new Map(), readers: new Map() },
  };
  for (const stream of await source.streams()) {
    openWalk(checking, stream, [
      ...(claims.get(stream.name) ?? []),
      ...pruneClaims(facts, stream.name, findings),
    ]);
  }
  // Seals that were taken away as a whole: nothing else goes by what an anchor says of them.
  for (const [name, each] of claims) if (!checking.walks.has(name)) for (const claim of each) claim.beyond(0);
  const sealing = { walks: checking.walks, findings, facts, now, standing: seals };
  for (const trail of facts.trails) {
    const { seal } = localStreams(trail);
    checking.readers.set(seal, openSealReader(sealing, seal));
    await walkSeals(checking, seal);
  }
  for (const { pass } of checking.walks.values()) await pass.advance(Number.POSITIVE_INFINITY);
  await concludeStreams(checking);
  const projections = await concludeTrail(checking, anchors);
  return {
    ...{
      place: source.place,
      trail: source.trail,
      findings,
      counted: checking.counted,
      anchors,
      facts,
      seals,
    },
    ...{ walks: checking.walks, ledger: checking.ledger, projections },
  };
}

const nothing = (): Counted => ({
  ...{ entries: 0, inRange: 0, firstAt: null, lastAt: null, newestAt: null },
  ...{ pruned: 0, newestPrunedAt: null, parked: 0 },
});

// The streams that a seal names are led along after so many seals: what is remembered of them stays small.
const sealsAtOnce = 500;

async function walkSeals({ walks, readers }: Checking, name: string): Promise<void> {
  const [walk, reader] = [walks.get(name), readers.get(name)];
  if (walk === undefined || reader === undefined) return;
  for (let before = -1; walk.pass.size > before; ) {
    before = walk.pass.size;
    await walk.pass.advance(before + sealsAtOnce);
    await reader.settle();
  }
}

function openWalk(checking: Checking, stream: SourceStream, others: readonly Claim[]): void {
  const { source, options, findings, facts } = checking;
  const { name } = stream;
  const standing = newStanding();
  const sorted = others.toSorted((one, other) => one.size - other.size);
  const claims = openClaims({ source, stream, standing, keys: options.keys, findings, others: sorted });
  const pass = openPass({
    ...{ source, stream, claims, findings, signal: options.signal },
    onEntry: (entry, isWhole) => look(checking, stream, entry, isWhole),
    onGap: (from, to, at) => tellGap(checking, name, [from, to], at),
    isPruned: prunedIndexes(facts, name),
  });
  checking.walks.set(name, { pass, standing, claims, sealedSize: 0, sealedBy: null });
}

function look(
  { counted, ledger, readers, options }: Checking,
  stream: SourceStream,
  entry: StoredEntry,
  isWhole: boolean,
) {
  if (stream.kind !== 'hub') {
    if (isWhole) readers.get(stream.name)?.take(entry);
    return;
  }
  const { enqueuedMs, body } = entry;
  counted.entries += 1;
  counted.newestAt = Math.max(counted.newestAt ?? enqueuedMs, enqueuedMs);
  if (isWithin(options.range ?? always, enqueuedMs)) {
    counted.inRange += 1;
    counted.firstAt = Math.min(counted.firstAt ?? enqueuedMs, enqueuedMs);
    counted.lastAt = Math.max(counted.lastAt ?? enqueuedMs, enqueuedMs);
  }
  if (body === null) {
    counted.pruned += 1;
    counted.newestPrunedAt = Math.max(counted.newestPrunedAt ?? enqueuedMs, enqueuedMs);
    return;
  }
  if (!isWhole) return;
  const reading = readRecord(body);
  if (reading.status === 'record') ledger.take(reading.record.agent, enqueuedMs);
  else counted.parked += 1;
}

function tellGap(
  { walks, findings, facts }: Checking,
  stream: string,
  [from, to]: readonly [number, number],
  at: number,
): void {
  const index = walks.get(stream)?.pass.size ?? 0;
  const numbers = rangeText(from, to, 'event', 'events');
  if (covers(facts.gaps.get(stream), from, to)) {
    const text = `${numbers} of ${stream} never came here: the hub no longer had them, as the journal says`;
    findings.add('gap', { stream, index, at, text });
  } else if (index === 0 && from === 0) {
    const text = `${stream} begins with event ${to + 1}: what the hub held before never came here`;
    findings.add('began-later', { stream, index, at, text });
  } else {
    const text = `${numbers} of ${stream} are missing, and the journal does not say why`;
    findings.add('gap-unexplained', { stream, index, at, text });
  }
}
