// Keeps the ledger of hooks in the outbox: what it says is on the disk, or goes there with the next that is written.
import { type HookEntry, hookNotePrefix, openHooks, readEntry, withState } from '../../core/hook-ledger.ts';
import type { BridgeRecord } from '../../core/record.ts';
import type { Draft, Notes } from '../../delivery/outbox/draft.ts';
import type { ReactionRuntime } from '../reactions.ts';
import { hookDraft } from './hook-records.ts';

export interface HookBook {
  /**
   * Reads the ledger, once; what an agent that was killed left running is then over, and nobody knows how.
   * @returns false while the disk cannot be read: nothing may begin then
   */
  open(): boolean;
  /** By event key. */
  entries(): readonly (readonly [string, HookEntry])[];
  get(key: string): HookEntry | undefined;
  /** In memory alone: for what is written together with something else, or can be known anew. */
  put(key: string, entry: HookEntry): void;
  /** Writes down what may begin only then. @returns whether it is written */
  writeFirst(key: string, entry: HookEntry, draft: Draft): boolean;
  /** Writes it down, as soon as the disk takes it. @param entry null forgets the event; undefined leaves it as it is */
  write(key: string, entry: HookEntry | null | undefined, drafts: readonly Draft[]): void;
}

type BookRuntime = Pick<ReactionRuntime, 'outbox' | 'journal' | 'observer' | 'wake' | 'clock' | 'log'>;

/** What an entry is kept as. */
export const noteOf = (key: string, entry: HookEntry | null): Notes => ({
  [hookNotePrefix + key]: entry === null ? null : JSON.stringify(entry),
});

/** @param isIdle whether no hook is in hand: only then may the ledger be read anew */
export function openHookBook(runtime: BookRuntime, isIdle: () => boolean): HookBook {
  const { outbox, journal, observer, wake, log } = runtime;
  let ledger: Map<string, HookEntry> | null = null;
  let isOfThisVm = false;
  let waits = false;
  const tell = (written: readonly BridgeRecord[] | null): boolean => tellWritten(written, runtime);
  const write: HookBook['write'] = (key, entry, drafts) => {
    if (entry === null) ledger?.delete(key);
    else if (entry !== undefined) ledger?.set(key, entry);
    tell(journal.commit(null, drafts, entry === undefined ? {} : noteOf(key, entry)));
  };
  const read = (): boolean => {
    const known = tell(journal.retry()) ? outbox.notes(hookNotePrefix) : null;
    if (known === null || !known.ok) return false;
    const entries = [...known.value].map(
      ([key, text]) => [key.slice(hookNotePrefix.length), readEntry(text)] as const,
    );
    ledger = new Map(entries.filter((pair): pair is [string, HookEntry] => pair[1] !== null));
    // Until then a disk that was copied from another VM may still speak of that one's events.
    isOfThisVm = observer.current().vmId !== null;
    for (const [key, entry] of ledger) endOpenHooks(key, entry, { ...runtime, write });
    return true;
  };
  return {
    open: () => {
      const isCurrent = isOfThisVm || observer.current().vmId === null || !isIdle();
      return (ledger !== null && isCurrent) || read();
    },
    entries: () => [...(ledger ?? [])],
    get: (key) => ledger?.get(key),
    put: (key, entry) => void ledger?.set(key, entry),
    writeFirst(key, entry, draft) {
      const isWritten = journal.commitFirst([draft], noteOf(key, entry));
      if (!isWritten && !waits) log.warn({}, 'hooks wait until the disk takes it that they start');
      waits = !isWritten;
      if (!isWritten) return false;
      ledger?.set(key, entry);
      wake.ring();
      return true;
    },
    write,
  };
}

function tellWritten(written: readonly BridgeRecord[] | null, { log, wake }: BookRuntime): boolean {
  for (const { id, type, sequence } of written ?? []) log.info({ id, type, sequence }, 'record');
  if (written !== null && written.length > 0) wake.ring();
  return written !== null;
}

type Ending = Pick<HookBook, 'write'> & Pick<BookRuntime, 'observer' | 'clock' | 'log'>;

function endOpenHooks(key: string, entry: HookEntry, { write, observer, clock, log }: Ending): void {
  const open = openHooks(entry).map(
    ([id, state]) => [id, { ...state, outcome: 'unknown' as const }] as const,
  );
  if (open.length === 0) return;
  for (const [, { phase, hook }] of open) {
    log.error({ eventId: entry.event.eventId, phase, hook }, 'the agent was ended while a hook ran');
  }
  const ended = open.reduce((before, [id, state]) => withState(before, id, state), entry);
  const drafts = open.map(([, state]) => hookDraft({ entry, state }, clock.now(), observer));
  write(key, ended, drafts);
}
