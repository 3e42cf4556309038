// Remembers how an anchor stands, and says once what changed: in the log, in the journal and on the status page.
import type { Unavailable } from '../audit/store.ts';
import type { AnchoringOptions } from './anchoring.ts';
import { lastFact } from './journal-tail.ts';

export interface Anchored {
  readonly status: 'known';
  /** The stream of seals. */
  readonly origin: string;
  readonly size: number;
  /** Epoch ms. */
  readonly at: number;
}

export interface AnchorState {
  /** What any instance brought last, as the journal says; null when it says nothing. */
  last(origin: string): Promise<Anchored | null | Unavailable>;
  /** @returns true */
  anchored(head: { readonly origin: string; readonly size: number }, reference: string | null): true;
  /** @returns false */
  failed(reason: string, size: number): false;
  /** What stands there cannot be believed. */
  doubt(reason: string): void;
  /** How long to wait after a failure. */
  retryMs(intervalMs: number): number;
}

const retryMsBase = 15_000;
const retryMsMax = 600_000;
// All that may have been written since the last look; the first one goes back further.
const readMax = 1_000;

interface Memory {
  known: Anchored | null;
  fault: string | null;
  doubted: string | null;
  /** In a row, and of the whole run. */
  failures: number;
  failuresInAll: number;
  /** Whose journal was searched to its beginning. */
  searched: string;
}

export function openAnchorState(options: AnchoringOptions): AnchorState {
  const { name: anchor, log } = options;
  const memory: Memory = {
    ...{ known: null, fault: null, doubted: null, failures: 0, failuresInAll: 0, searched: '' },
  };
  return {
    last: (origin) => last(memory, options, origin),
    anchored: (head, reference) => takeSuccess(memory, options, head, reference),
    failed: (reason, size) => takeFailure(memory, options, reason, size),
    doubt: (reason) => {
      if (reason === memory.doubted) return;
      memory.doubted = reason;
      log.warn(
        { anchor, reason },
        'the anchor holds a head of this trail that none of its keys signed as it stands; it is not compared',
      );
    },
    retryMs: (intervalMs) => {
      const doublings = Math.min(Math.max(memory.failures - 1, 0), 10);
      return Math.min(intervalMs, retryMsMax, retryMsBase * 2 ** doublings);
    },
  };
}

const say = ({ known, fault, failuresInAll }: Memory, { name, tell }: AnchoringOptions): void =>
  tell({ kind: 'anchor', anchor: name, anchoredAt: known?.at ?? null, fault, failures: failuresInAll });

async function last(
  memory: Memory,
  options: AnchoringOptions,
  origin: string,
): Promise<Anchored | null | Unavailable> {
  const isMeant = ({ anchor }: { readonly anchor: string }): boolean => anchor === options.name;
  const limit = memory.searched === origin ? { readMax } : {};
  const found = await lastFact(options.trail, 'anchored', { isMeant, ...limit });
  if (found.status === 'unavailable') return found;
  memory.searched = origin;
  if (memory.known !== null && memory.known.origin !== origin) memory.known = null;
  // What this instance brought may still wait to be written.
  if (found.fact !== null && found.fact.size > (memory.known?.size ?? -1)) {
    memory.known = { status: 'known', origin, size: found.fact.size, at: found.fact.at };
    say(memory, options);
  }
  return memory.known;
}

function takeSuccess(
  memory: Memory,
  options: AnchoringOptions,
  head: { readonly origin: string; readonly size: number },
  reference: string | null,
): true {
  const { name: anchor, journal, log, clock } = options;
  journal.add({ kind: 'anchored', anchor, size: head.size, reference });
  if (memory.fault !== null) log.info({ anchor, after: memory.fault }, 'the anchor takes heads again');
  memory.known = { status: 'known', ...head, at: clock.now() };
  Object.assign(memory, { fault: null, doubted: null, failures: 0 });
  say(memory, options);
  return true;
}

function takeFailure(memory: Memory, options: AnchoringOptions, reason: string, size: number): false {
  const { name: anchor, journal, log } = options;
  memory.failures += 1;
  memory.failuresInAll += 1;
  if (reason !== memory.fault) {
    log.warn({ anchor, reason }, 'the anchor does not take the head of the trail; it is tried again');
    journal.add({ kind: 'anchor-failed', anchor, size, reason });
  }
  memory.fault = reason;
  say(memory, options);
  return false;
}
