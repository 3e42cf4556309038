// Writes down what the consumer has to say of itself, in its order; while the store takes nothing, the facts wait.
import type { TrailStore, UnavailableReason } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { JournalFact } from '../core/journal.ts';
import type { Log } from '../log.ts';

export interface JournalWriter {
  /** Puts facts behind those that wait, and returns at once. */
  add(...facts: readonly JournalFact[]): void;
  /** Writes what comes, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /**
   * Writes what waits, until the signal aborts.
   * @returns how many facts still wait
   */
  flush(signal: AbortSignal): Promise<number>;
}

interface WriterOptions {
  readonly trail: TrailStore;
  readonly clock: Clock;
  readonly log: Log;
}

// So many wait only when a store is down for months; one transaction takes a part of them.
const waitingMax = 10_000;
const atOnce = 100;
const pauseMsBase = 100;
const pauseMsMax = 5_000;

export function openJournalWriter(options: WriterOptions): JournalWriter {
  const waiting: JournalFact[] = [];
  const flushAll = openFlush(options, waiting);
  let wake: () => void = () => undefined;
  // One after the other: a call that was given up may still be writing.
  let turn: Promise<unknown> = Promise.resolve();
  const flush = (signal: AbortSignal): Promise<number> => {
    const flushed = turn.then(() => flushAll(signal));
    turn = flushed;
    return flushed;
  };
  return {
    add: (...facts) => {
      const room = waitingMax - waiting.length;
      if (facts.length > room) options.log.error({}, 'too many facts wait for the trail: one is left out');
      waiting.push(...facts.slice(0, room));
      wake();
    },
    run: async (signal) => {
      while (!signal.aborted) {
        await flush(signal);
        await news(signal, (resolve) => {
          wake = resolve;
          return waiting.length > 0;
        });
      }
    },
    flush,
  };
}

/** @param waiting what is written goes from its beginning */
function openFlush({ trail, clock, log }: WriterOptions, waiting: JournalFact[]): JournalWriter['flush'] {
  let failures = 0;
  /** One transaction; false when the store takes nothing. */
  const write = async (): Promise<boolean> => {
    const facts = waiting.slice(0, atOnce);
    const fault = await attempt(trail, facts);
    if (fault === null) {
      if (failures > 0) log.info({}, 'the journal is written again');
      failures = 0;
      waiting.splice(0, facts.length);
      return true;
    }
    if (failures === 0) log.warn({ reason: fault }, 'the journal waits: the trail takes nothing');
    failures += 1;
    return false;
  };
  return async (signal) => {
    while (waiting.length > 0 && !signal.aborted) {
      const isWritten = await write();
      const pauseMs = Math.min(pauseMsBase * 2 ** Math.min(failures, 10), pauseMsMax);
      if (!isWritten) await clock.sleep(pauseMs, signal);
    }
    return waiting.length;
  };
}

/** Waits for something to do, or for the end. @param begin gets what to call, and says whether there is something already */
async function news(signal: AbortSignal, begin: (wake: () => void) => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = (): void => resolve();
  signal.addEventListener('abort', stop, { once: true });
  if (begin(resolve) || signal.aborted) resolve();
  await promise;
  signal.removeEventListener('abort', stop);
}

/** A store that throws has a bug; the fact must not be lost because of it. */
async function attempt(trail: TrailStore, facts: readonly JournalFact[]): Promise<UnavailableReason | null> {
  try {
    const result = await trail.journal(facts);
    return result.status === 'written' ? null : result.reason;
  } catch {
    return 'unexpected';
  }
}
