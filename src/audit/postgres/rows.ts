// Reads the rows of a question piece by piece, so that its answer need not fit into memory.
import { randomUUID } from 'node:crypto';
import { entryFrom } from '../log-rows.ts';
import type { StoredEntry } from '../store.ts';
import type { Ask, Row } from './database.ts';
import { entryColumns } from './log.ts';

const piece = 500;

/** The rows in pieces, over a cursor of the transaction that `ask` speaks in. */
export async function* inPieces(
  ask: Ask,
  question: string,
  values: readonly unknown[] = [],
): AsyncGenerator<readonly Row[]> {
  const name = `c_${randomUUID().replaceAll('-', '')}`;
  await ask(`DECLARE ${name} NO SCROLL CURSOR FOR ${question}`, values);
  try {
    for (;;) {
      const rows = await ask(`FETCH ${piece} FROM ${name}`);
      if (rows.length > 0) yield rows;
      if (rows.length < piece) return;
    }
  } finally {
    // A transaction that has failed has no cursor any more.
    await ask(`CLOSE ${name}`).catch(() => undefined);
  }
}

// What a piece of entries may weigh: bodies are up to a megabyte each.
const entryBytes = 8 * 1024 * 1024;

/** Entries of one stream by rising index, in pieces that are bounded in number and in bytes. */
export async function* entriesFrom(
  ask: Ask,
  streamId: number,
  from: number,
): AsyncGenerator<readonly StoredEntry[]> {
  // The length of a body is known without reading it.
  const question = `
    WITH near AS (
      SELECT idx, coalesce(octet_length(body), 0) AS bytes FROM seb.entry
      WHERE stream = $1 AND idx >= $2 ORDER BY idx LIMIT ${piece}
    ), weighed AS (SELECT idx, sum(bytes) OVER (ORDER BY idx) - bytes AS before FROM near)
    SELECT ${entryColumns} FROM seb.entry
    WHERE stream = $1 AND idx IN (SELECT idx FROM weighed WHERE before < ${entryBytes}) ORDER BY idx`;
  for (let next = from; ; ) {
    const rows = await ask(question, [streamId, next]);
    const entries = rows.map(entryFrom);
    const last = entries.at(-1);
    if (last === undefined) return;
    yield entries;
    next = last.index + 1;
  }
}
