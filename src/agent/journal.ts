// Hands the outbox what happens, and keeps in memory what the disk would not take until it does.
import type { BridgeRecord } from '../core/record.ts';
import type { Watch } from '../core/watch.ts';
import type { Log } from '../log.ts';
import type { Meters } from './meters.ts';
import type { Draft } from './outbox/draft.ts';
import type { Outbox } from './outbox/outbox.ts';

export interface Journal {
  /**
   * Writes down what was seen and what is to be said about it, with all that waited before.
   * @param watch null when nothing new was seen
   * @returns the records that are on disk now; null when the disk does not take them yet
   */
  commit(watch: Watch | null, drafts: readonly Draft[]): readonly BridgeRecord[] | null;
  /** Tries again to write what waits in memory. */
  retry(): readonly BridgeRecord[] | null;
}

// A disk that stays full for days must not also fill the memory.
const waitingMax = 10_000;

export function openJournal(outbox: Outbox, meters: Meters, log: Log): Journal {
  let watch: Watch | null = null;
  let waiting: readonly Draft[] = [];
  const write = (): readonly BridgeRecord[] | null => {
    const committed = outbox.commit(watch, waiting);
    if (!committed.ok) return null;
    watch = null;
    waiting = [];
    meters.records(committed.value);
    return committed.value;
  };
  return {
    commit(seen, drafts) {
      watch = seen ?? watch;
      waiting = bounded([...waiting, ...drafts], log);
      return write();
    },
    retry: () => (watch === null && waiting.length === 0 ? [] : write()),
  };
}

function bounded(drafts: readonly Draft[], log: Log): readonly Draft[] {
  const lost = drafts.length - waitingMax;
  if (lost <= 0) return drafts;
  log.error({ lost }, 'too much waits for a disk that takes nothing: the oldest of it is lost');
  return drafts.slice(lost);
}
