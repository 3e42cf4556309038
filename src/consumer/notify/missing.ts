// Adds to the end of an event who should have told of it and did not, as far as the trail knows.
import { setImmediate } from 'node:timers/promises';
import type { TrailReader } from '../../audit/store.ts';
import { eventKey } from '../../core/document.ts';
import type { MissingVm } from '../../core/fleet-fact.ts';
import { expectedOf } from '../../core/observation-gaps.ts';
import type { Tellable } from './facts.ts';
import type { OpenReader } from './term.ts';

// A message that names more is read by nobody; "seb timeline" names all.
const namesMax = 100;
// A trail of a big fleet is asked for long: of many ends at once the rest is told without.
const askMsMax = 1_000;

/** @param now epoch ms */
export async function withMissing(
  tellables: readonly Tellable[],
  openReader: OpenReader,
  now: number,
): Promise<readonly Tellable[]> {
  if (!tellables.some(isEnd)) return tellables;
  try {
    await using reader = await openReader();
    const told: Tellable[] = [];
    const until = performance.now() + askMsMax;
    for (const each of tellables) {
      const isAsked = isEnd(each) && performance.now() < until;
      told.push(isAsked ? await endOf(each, reader, now) : each);
      // SQLite answers at once: without a pause nothing else would have its turn.
      if (isAsked) await setImmediate();
    }
    return told;
  } catch {
    // A trail that cannot be asked now must not hold up what is known.
    return tellables;
  }
}

type Fact = Extract<Tellable, { kind: 'fact' }>;

const isEnd = (tellable: Tellable): tellable is Fact =>
  tellable.kind === 'fact' && ['completed', 'canceled'].includes(tellable.fact.record.data.transition);

async function endOf(end: Fact, reader: TrailReader, now: number): Promise<Fact> {
  const parts = await reader.timeline(eventKey(end.fact.record.data.event.eventId));
  if (parts === null) return end;
  const missing = expectedOf(parts, now).flatMap(({ vmName, vmId, saw, reason }): MissingVm[] =>
    saw === null ? [{ name: vmName ?? vmId ?? '', reason: reason ?? 'unknown' }] : [],
  );
  return missing.length === 0 ? end : { ...end, fact: { ...end.fact, missing: missing.slice(0, namesMax) } };
}
