// What the trail says now that it did not say at the last look.
import { openSqliteReader } from '../../audit/sqlite-reader.ts';
import type { TrailEvent, TrailPhase, TrailReader } from '../../audit/store.ts';
import type { Line } from './line.ts';

export interface TrailView extends AsyncDisposable {
  look(): Promise<readonly Line[]>;
  readonly reader: TrailReader;
}

const phases: readonly TrailPhase[] = ['scheduled', 'updated', 'started', 'completed', 'canceled'];
const eventsMax = 1_000;

/**
 * Opens the trail for questions.
 * @param path of the consumer's file, which is there already
 * @param fleetSize how many observers could see each fact
 */
export function viewTrail(path: string, fleetSize: number, labelOf: (eventId: string) => string): TrailView {
  const reader = openSqliteReader(path);
  const told = new Map<string, number>();
  const news = (event: TrailEvent): Line[] =>
    phases.flatMap((phase) => {
      const observers = event.phaseObservers[phase];
      const key = `${event.eventId} ${phase}`;
      if (observers === (told.get(key) ?? 0)) return [];
      told.set(key, observers);
      const detail = `one fact, witnessed by ${observers} of ${fleetSize}`;
      return [{ place: 'trail', what: phaseText(event, phase), event: labelOf(event.eventId), detail }];
    });
  return {
    reader,
    look: async () => (await reader.events({ limit: eventsMax })).flatMap(news),
    [Symbol.asyncDispose]: () => reader[Symbol.asyncDispose](),
  };
}

/** With `~` when Azure did not say so. */
function phaseText({ outcomeInferred }: TrailEvent, phase: TrailPhase): string {
  const isEnd = phase === 'completed' || phase === 'canceled';
  return isEnd && outcomeInferred ? `${phase}~` : phase;
}

/** The life of an event in one cell: `scheduled → started → completed~`. */
export function lifeOf(event: TrailEvent): string {
  const seen = phases.filter((phase) => event.phaseObservers[phase] > 0);
  const missed = event.outcome === 'missed-start' ? ' (start not seen)' : '';
  return seen.map((phase) => phaseText(event, phase)).join(' → ') + missed;
}

/** How many VMs saw it, phase by phase when that differs. */
export function witnessesOf(event: TrailEvent, fleetSize: number): string {
  const seen = phases.filter((phase) => event.phaseObservers[phase] > 0);
  const counts = seen.map((phase) => event.phaseObservers[phase]);
  if (new Set(counts).size <= 1) return `${event.observers} of ${fleetSize}`;
  return `${seen.map((phase) => `${event.phaseObservers[phase]} ${phase}`).join(', ')} of ${fleetSize}`;
}
