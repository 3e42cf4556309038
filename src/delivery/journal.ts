// Hands the outbox what happens, and keeps in memory what the disk would not take until it does.
import type { BridgeRecord } from '../core/record.ts';
import type { Watch } from '../core/watch.ts';
import type { Log } from '../log.ts';
import type { Meters } from './meters.ts';
import type { Draft, Notes } from './outbox/draft.ts';
import type { Outbox } from './outbox/outbox.ts';

export interface Journal {
  /**
   * Writes down what was seen and what is to be said about it, with all that waited before.
   * @param watch null when nothing new was seen
   * @param notes kept and written together with the rest
   * @returns the records that are on disk now; null when the disk does not take them yet
   */
  commit(watch: Watch | null, drafts: readonly Draft[], notes?: Notes): readonly BridgeRecord[] | null;
  /**
   * Writes down what may begin only once it is written, behind all that waited before: now, or not at all.
   * @returns false when the disk does not take it: nothing of it is kept, and nothing may begin
   */
  commitFirst(drafts: readonly Draft[], notes: Notes): boolean;
  /** Tries again to write what waits in memory. */
  retry(): readonly BridgeRecord[] | null;
}

// A disk that stays full for days must not also fill the memory.
const waitingMax = 10_000;

export function openJournal(outbox: Outbox, meters: Meters, log: Log): Journal {
  let watch: Watch | null = null;
  let waiting: readonly Draft[] = [];
  let noted: Notes = {};
  const write = (): readonly BridgeRecord[] | null => {
    const committed = outbox.commit(watch, waiting, noted);
    if (!committed.ok) return null;
    watch = null;
    waiting = [];
    noted = {};
    meters.records(committed.value);
    return committed.value;
  };
  const retry = (): readonly BridgeRecord[] | null => {
    const isIdle = watch === null && waiting.length === 0 && Object.keys(noted).length === 0;
    return isIdle ? [] : write();
  };
  return {
    commit(seen, drafts, notes = {}) {
      watch = seen ?? watch;
      waiting = bounded([...waiting, ...drafts], log);
      noted = { ...noted, ...notes };
      return write();
    },
    commitFirst(drafts, notes) {
      if (retry() === null) return false;
      const committed = outbox.commit(null, drafts, notes);
      if (committed.ok) meters.records(committed.value);
      return committed.ok;
    },
    retry,
  };
}

function bounded(drafts: readonly Draft[], log: Log): readonly Draft[] {
  const lost = drafts.length - waitingMax;
  if (lost <= 0) return drafts;
  log.error({ lost }, 'too much waits for a disk that takes nothing: the oldest of it is lost');
  return drafts.slice(lost);
}
