// Brings the newest signed head of the seals to one anchor, again and again; before that, the trail must go on from what
// the anchor holds already.
import type { TrailStore, Unavailable } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { VerifierKey } from '../core/signed-note.ts';
import { localStreams } from '../core/stream.ts';
import type { Log } from '../log.ts';
import { type AnchorState, openAnchorState } from './anchor-state.ts';
import { beginAnew, type Past, pastOf } from './anchored-past.ts';
import type { NamedAnchor } from './anchors/registry.ts';
import { type AnchorTurns, openAnchorTurns } from './anchors/turns.ts';
import { type Comparison, openComparison } from './continuation.ts';
import type { JournalWriter } from './journal-writer.ts';
import { openNap } from './nap.ts';
import { openAge } from './rhythm.ts';

/** How an anchor stands, after a look or an attempt. */
export interface AnchorNews {
  readonly kind: 'anchor';
  readonly anchor: string;
  /** Epoch ms at which it last took a head; null when that is not known. */
  readonly anchoredAt: number | null;
  /** Why the last attempt failed; null when it did not. */
  readonly fault: string | null;
  /** Attempts of this run that failed. */
  readonly failures: number;
}

export interface AnchoringOptions extends NamedAnchor {
  readonly trail: TrailStore;
  readonly journal: JournalWriter;
  readonly clock: Clock;
  readonly log: Log;
  /** The keys that may have signed what the anchor holds. */
  readonly keys: readonly VerifierKey[];
  readonly tell: (news: AnchorNews) => void;
  /** Is waited for before a head is brought. */
  readonly prepare: (signal: AbortSignal) => Promise<void>;
}

export interface Anchoring {
  /** Compares once, for the start. @returns whether it came to a result */
  compare(signal: AbortSignal): Promise<boolean>;
  /** Until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** There is a new head: looks now and not in a while, unless the anchor is failing. */
  wake(): void;
  /** Brings the newest head, if it is not there, whatever the interval; one attempt. */
  finish(signal: AbortSignal): Promise<void>;
}

interface Newest {
  readonly status: 'known';
  /** The stream of seals. */
  readonly origin: string;
  readonly size: number;
  /** Null when there is no seal, or nobody signed it. */
  readonly note: string | null;
}

const lookIntervalMs = 30_000;
// Whoever starts waits for it.
const firstAskMsMax = 10_000;

interface Parts extends AnchoringOptions {
  readonly state: AnchorState;
  readonly turns: AnchorTurns;
  readonly comparison: Comparison;
  readonly ageOf: ReturnType<typeof openAge>;
}

export function openAnchoring(options: AnchoringOptions): Anchoring {
  const parts: Parts = {
    ...options,
    state: openAnchorState(options),
    turns: openAnchorTurns(options.anchor),
    comparison: openComparison(options.trail),
    ageOf: openAge(options.clock),
  };
  return {
    compare: (signal) => compare(parts, signal),
    ...openLoop(options.clock, (signal) => turn(parts, signal)),
    finish: (signal) => finish(parts, signal),
  };
}

async function compare(parts: Parts, signal: AbortSignal): Promise<boolean> {
  const newest = await newestSeal(parts.trail);
  if (newest.status === 'unavailable') return false;
  const past = await pastIn(parts, newest.origin, signal, firstAskMsMax);
  if (past.status === 'doubtful') parts.state.doubt(past.reason);
  if (past.status !== 'other-past') return past.status === 'continues' || past.status === 'doubtful';
  return (await beginAnew(parts.trail, parts.log, parts.name, past.checkpoint)) === 'begun';
}

async function pastIn(
  { turns, keys, comparison }: Parts,
  origin: string,
  signal: AbortSignal,
  askMsMax?: number,
): Promise<Past> {
  if (turns.newest === null) return { status: 'continues', size: 0 };
  const held = await turns.newest(origin, signal, askMsMax);
  return await pastOf(held, keys, (checkpoint) => comparison.compare(checkpoint, signal));
}

/** How long to wait for the next turn. */
interface Wait {
  readonly ms: number;
  /** Whether there is a reason to wait that a new head does not change. */
  readonly isFixed: boolean;
}

/** Turn after turn, with waits that can be cut short. */
function openLoop(
  clock: Clock,
  next: (signal: AbortSignal) => Promise<Wait>,
): Pick<Anchoring, 'run' | 'wake'> {
  const nap = openNap(clock);
  return {
    run: async (signal) => {
      while (!signal.aborted) {
        const { ms, isFixed } = await next(signal);
        await (isFixed ? clock.sleep(ms, signal) : nap.sleep(ms, signal));
      }
    },
    wake: nap.wake,
  };
}

/** What is brought when its time has come. */
async function turn(parts: Parts, signal: AbortSignal): Promise<Wait> {
  const { trail, state, ageOf, intervalMs } = parts;
  const rest: Wait = { ms: Math.min(lookIntervalMs, intervalMs), isFixed: false };
  const newest = await newestSeal(trail);
  if (newest.status === 'unavailable') return rest;
  const last = await state.last(newest.origin);
  if (last?.status === 'unavailable' || last?.size === newest.size) return rest;
  const ageMs = last === null ? intervalMs : ageOf(last);
  if (ageMs < intervalMs) return { ...rest, ms: Math.min(intervalMs - ageMs, lookIntervalMs) };
  return (await bring(parts, newest, signal)) ? rest : { ms: state.retryMs(intervalMs), isFixed: true };
}

async function finish(parts: Parts, signal: AbortSignal): Promise<void> {
  const newest = await newestSeal(parts.trail);
  if (newest.status === 'unavailable' || signal.aborted) return;
  const last = await parts.state.last(newest.origin);
  if (last?.status === 'unavailable' || last?.size === newest.size) return;
  await bring(parts, newest, signal);
}

/** Compares, and puts the head there when it is not. @returns whether it stands there now */
async function bring(parts: Parts, { origin, size, note }: Newest, signal: AbortSignal): Promise<boolean> {
  if (note === null) return true;
  const { state, turns, trail, log, name } = parts;
  const past = await pastIn(parts, origin, signal);
  if (signal.aborted || past.status === 'unavailable') return false;
  if (past.status === 'other-past') {
    await beginAnew(trail, log, name, past.checkpoint);
    return false;
  }
  if (past.status === 'failed') return state.failed(past.reason, size);
  if (past.status === 'doubtful') state.doubt(past.reason);
  // Another instance brought it, or this one before it was killed.
  else if (past.size >= size) return state.anchored({ origin, size: past.size }, null);
  await parts.prepare(signal);
  if (signal.aborted) return false;
  const result = await turns.put(origin, note, signal);
  if (result.status === 'anchored') return state.anchored({ origin, size }, result.reference);
  return signal.aborted ? false : state.failed(result.reason, size);
}

async function newestSeal(trail: TrailStore): Promise<Newest | Unavailable> {
  try {
    const known = await trail.trail();
    if (known.status === 'unavailable') return known;
    const { seal } = localStreams(known.trail);
    const read = await trail.heads();
    if (read.status === 'unavailable') return read;
    const head = read.heads.find(({ name }) => name === seal);
    return { status: 'known', origin: seal, size: head?.size ?? 0, note: head?.note ?? null };
  } catch {
    // A store that throws has a bug; the next look may find it mended.
    return { status: 'unavailable', reason: 'unexpected' };
  }
}
