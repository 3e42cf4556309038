// Writes and reads one entry as a line of JSON: the same entry always gives the same bytes, whoever writes it.
import { base64, bytesFromBase64 } from '../../core/base64.ts';
import type { StoredEntry } from '../store.ts';

/** A line that is longer is no entry: a hub takes bodies of at most 20 MiB, and base64 makes a third more of them. */
export const lineBytesMax = 64 * 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The entry's line with its end. The body stands there as text where its bytes are UTF-8, as base64 where they are
 * not or where the text would be longer than that, and not at all when it was pruned.
 */
export function entryLine({ index, sequenceNumber, enqueuedMs, bodySha256, body }: StoredEntry): string {
  const leaf = { index, sequenceNumber, enqueuedMs, bodySha256: base64(bodySha256) };
  if (body === null) return `${JSON.stringify(leaf)}\n`;
  const text = textOf(body);
  return `${JSON.stringify(text === null ? { ...leaf, bodyBase64: base64(body) } : { ...leaf, body: text })}\n`;
}

/** Null where base64 is what says it. */
function textOf(body: Uint8Array): string | null {
  try {
    const text = utf8.decode(body);
    // Control characters become six each: a body of nothing else would outgrow every limit.
    return JSON.stringify(text).length > 2 * body.length + 2 ? null : text;
  } catch {
    return null;
  }
}

/** What a line says: an entry, whether in our own bytes or in others, or nothing that could be read. */
export type LineReading =
  | { readonly status: 'entry' | 'rewritten'; readonly entry: StoredEntry }
  | { readonly status: 'unreadable' };

/** @param line without its end */
export function readEntryLine(line: string): LineReading {
  const entry = entryOf(parsed(line));
  if (entry === null) return { status: 'unreadable' };
  return { status: entryLine(entry) === `${line}\n` ? 'entry' : 'rewritten', entry };
}

function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function entryOf(said: Readonly<Record<string, unknown>>): StoredEntry | null {
  const { index, sequenceNumber, enqueuedMs, bodySha256, body, bodyBase64 } = said;
  const hash = typeof bodySha256 === 'string' ? bytesFromBase64(bodySha256) : null;
  const bytes = typeof bodyBase64 === 'string' ? bytesFromBase64(bodyBase64) : textBytes(body);
  if (![index, sequenceNumber, enqueuedMs].every(Number.isSafeInteger) || hash?.length !== 32) return null;
  if (bytes === null && (body !== undefined || bodyBase64 !== undefined)) return null;
  const [place, number, at] = [Number(index), Number(sequenceNumber), Number(enqueuedMs)];
  return { index: place, sequenceNumber: number, enqueuedMs: at, bodySha256: hash, body: bytes };
}

const textBytes = (body: unknown): Uint8Array | null =>
  typeof body === 'string' ? Buffer.from(body, 'utf8') : null;
