// Knows up to where every notice has come to its end, and tells the journal, so that a successor on another disk goes on there.
import type { TrailStore } from '../../audit/store.ts';
import type { JournalFact } from '../../core/journal.ts';
import type { Outbox } from '../../delivery/outbox/outbox.ts';
import { statement } from '../../sqlite.ts';
import { noteKeys } from './notes.ts';
import { positionOf } from './start.ts';

/** A moment at which no news of a wave waited. */
export interface Mark {
  readonly cursors: ReadonlyMap<string, number>;
  /** How long the journal was before. */
  readonly journal: number;
}

export interface Positions {
  /** Remembers where the notices stand, while no news waits. */
  mark(mark: Mark): void;
  /** Tells the journal how far everything is settled, when that has moved and enough time has passed. */
  write(options?: { readonly isLast: boolean }): Promise<void>;
}

export interface PositionsOptions {
  readonly trail: TrailStore;
  readonly outbox: Outbox;
  readonly instance: string;
  readonly since: number;
  /** Ms that never jump. */
  readonly monotonic: () => number;
}

/** A mark, with the last record that was made before it. */
interface Pending extends Mark {
  readonly sequence: number;
}

// A successor reads again what came after the last position, and leaves out what the journal says was told.
const writeMsMin = 30_000;
// Of what nobody has to be told, a good deal more may be read again.
const quietMsMin = 3_600_000;
// A sink that is dead for days holds the position back; what lies between the marks is read again, and nothing else.
const marksMax = 200;

export function openPositions({ trail, outbox, instance, since, monotonic }: PositionsOptions): Positions {
  let marks: readonly Pending[] = [];
  let written = { key: '', sequence: -1, atMs: Number.NEGATIVE_INFINITY };
  return {
    mark: (mark) => {
      const sequence = Number(outbox.recall('sequence') ?? 0);
      const before =
        marks.at(-1)?.sequence === sequence || marks.length >= marksMax ? marks.slice(0, -1) : marks;
      marks = [...before, { ...mark, sequence }];
    },
    write: async ({ isLast } = { isLast: false }) => {
      const settled = settledMark(outbox, marks);
      if (settled === null) return;
      marks = marks.slice(marks.indexOf(settled));
      const [key, waitedMs] = [JSON.stringify([...settled.cursors]), monotonic() - written.atMs];
      const waitMs = settled.sequence === written.sequence ? quietMsMin : writeMsMin;
      if (key === written.key || (!isLast && waitedMs < waitMs)) return;
      const notifier = outbox.recall('instanceId');
      if (notifier === null) return;
      const { journal, cursors, sequence } = settled;
      const fact: JournalFact = positionOf({ instance, notifier, since, journal, cursors });
      const result = await trail.journal([fact]);
      if (result.status !== 'written') return;
      written = { key, sequence, atMs: monotonic() };
      outbox.remember(noteKeys.journal, String(journal));
    },
  };
}

/** The latest mark before everything that still waits; null while there is none, or the file cannot be read. */
function settledMark(outbox: Outbox, marks: readonly Pending[]): Pending | null {
  const found = outbox.ask((database) =>
    statement(database, `SELECT MIN(sequence) AS oldest FROM delivery WHERE state = 'pending'`).get(),
  );
  if (!found.ok) return null;
  const oldest = found.value?.['oldest'];
  const before = oldest == null ? Number.POSITIVE_INFINITY : Number(oldest);
  return marks.findLast(({ sequence }) => sequence < before) ?? null;
}
