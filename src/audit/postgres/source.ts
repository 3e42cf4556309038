// Reads a trail in PostgreSQL at one moment, for whoever checks, proves or copies it.
import { sourceStreamFrom } from '../log-rows.ts';
import type { PinnedNote, RecordPlace, SourceStream, StoredEntry, TrailSource } from '../store.ts';
import { TrailUnusable } from '../store.ts';
import { type Ask, openDatabase, type PostgresSettings } from './database.ts';
import { currentTrail } from './log.ts';
import { areProjected, lookAtTables } from './prepare.ts';
import { checkSnapshot } from './rebuild.ts';
import { entriesFrom, inPieces } from './rows.ts';
import { fromColumn, toColumn } from './text.ts';
import { unusable } from './unusable.ts';

/** What it is called: the URL is a secret as a whole. */
export const place = 'PostgreSQL';

// Whoever reads a big trail does other things between two pieces.
const snapshot = { mode: 'REPEATABLE READ READ ONLY', statementMs: 600_000, idleMs: 600_000 } as const;

/**
 * Opens the trail as it stands now; what is written meanwhile is not seen.
 * @throws TrailUnusable also when there is none: it is never made
 */
export async function openPostgresSource(settings: PostgresSettings): Promise<TrailSource> {
  return await asking(async () => {
    await using opened = new AsyncDisposableStack();
    const database = opened.use(await openDatabase(settings, { connectionsMax: 1 }));
    const { ask } = opened.use(await database.begin(snapshot));
    await requireTables(ask);
    const trail = await currentTrail(ask);
    const resources = opened.move();
    return sourceOf(ask, trail, resources);
  });
}

function sourceOf(ask: Ask, trail: string | null, resources: AsyncDisposable): TrailSource {
  return {
    ...{ place, trail },
    streams: () => asking(() => streamsOf(ask)),
    entries: (stream, from = 0) => pieces(() => entriesOf(ask, stream, from)),
    notes: (stream) => pieces(() => notesOf(ask, stream)),
    check: () => asking(() => checkSnapshot(ask)),
    find: (id) => asking(() => placesOf(ask, id)),
    [Symbol.asyncDispose]: async () => await resources[Symbol.asyncDispose](),
  };
}

/** @throws TrailUnusable when there is no trail that this version can read */
export async function requireTables(ask: Ask): Promise<void> {
  const tables = await lookAtTables(ask);
  if (tables === 'missing') {
    throw new TrailUnusable(
      'there is no trail in this PostgreSQL database; "seb consumer" makes it when it first runs',
    );
  }
  if (tables === 'older') {
    throw new TrailUnusable(
      'the trail in PostgreSQL has tables of an older version: start the consumer once',
    );
  }
  if (!(await areProjected(ask))) {
    throw new TrailUnusable(
      'the trail in PostgreSQL was written by an earlier version of this program: "seb consumer" brings it up to date when it next starts',
    );
  }
}

/** Whatever goes wrong is said in one sentence. */
export async function asking<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  try {
    return await question();
  } catch (error) {
    throw unusable(error);
  }
}

async function* pieces<Item>(read: () => AsyncIterable<readonly Item[]>): AsyncGenerator<readonly Item[]> {
  try {
    yield* read();
  } catch (error) {
    throw unusable(error);
  }
}

async function streamsOf(ask: Ask): Promise<SourceStream[]> {
  const rows = await ask('SELECT name, size, last_seq, range, note FROM seb.stream ORDER BY name');
  return rows.map(sourceStreamFrom);
}

async function idOf(ask: Ask, stream: string): Promise<number | null> {
  const [row] = await ask('SELECT id FROM seb.stream WHERE name = $1', [stream]);
  return row === undefined ? null : Number(row['id']);
}

async function* entriesOf(ask: Ask, stream: string, from: number): AsyncGenerator<readonly StoredEntry[]> {
  const id = await idOf(ask, stream);
  if (id !== null) yield* entriesFrom(ask, id, from);
}

async function* notesOf(ask: Ask, stream: string): AsyncGenerator<readonly PinnedNote[]> {
  const id = await idOf(ask, stream);
  if (id === null) return;
  const question = 'SELECT size, note FROM seb.checkpoint WHERE stream = $1 ORDER BY size';
  for await (const rows of inPieces(ask, question, [id])) {
    yield rows.map((row) => ({ size: Number(row['size']), note: String(row['note']) }));
  }
}

async function placesOf(ask: Ask, id: string): Promise<RecordPlace[]> {
  const rows = await ask(
    `SELECT source, name, idx FROM seb.observation JOIN seb.stream ON stream.id = observation.stream
     WHERE observation.id = $1 ORDER BY name, idx`,
    [toColumn(id)],
  );
  return rows.map((row) => ({
    ...{ id, source: fromColumn(String(row['source'])) },
    ...{ stream: String(row['name']), index: Number(row['idx']) },
  }));
}
