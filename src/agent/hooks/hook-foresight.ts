// Notes the end of an event in one commit with its transition: a crash right behind it cannot lose the recover.
import { eventKey } from '../../core/document.ts';
import { foreseen } from '../../core/hook-ledger.ts';
import { fits } from '../../core/hook-plan.ts';
import type { Observation } from '../../core/watch.ts';
import type { Notes } from '../../delivery/outbox/draft.ts';
import { type Consequence, noConsequence, type SeenDocument } from '../reaction.ts';
import { noteOf } from './hook-book.ts';
import type { HookTools } from './hook-runner.ts';

type Foresight = Pick<HookTools, 'book' | 'configured' | 'observer' | 'settings'>;

export function foreseeHooks({ observations }: SeenDocument, tools: Foresight): Consequence {
  const { book } = tools;
  // Without the ledger what ended is found later, by its absence.
  if (!book.open()) return noConsequence;
  let notes: Notes = {};
  for (const observation of observations) {
    const key = eventKey(observation.event.eventId);
    const entry = foreseen(book.get(key), observation, mayRecover(observation, tools));
    if (entry === undefined) continue;
    book.put(key, entry);
    notes = { ...notes, ...noteOf(key, entry) };
  }
  return { drafts: [], notes };
}

/** What a folder has is looked at only when it is due. */
function mayRecover({ event }: Observation, { settings, configured, observer }: Foresight): boolean {
  if (settings.hooksDir !== undefined) return true;
  return configured.some(
    (hook) => hook.phase === 'recover' && fits(hook, event, observer.current()) !== false,
  );
}
