// Writes and reads what a signed note says of a tree: whose it is, how many leaves it has, and its root.
import { base64, bytesFromBase64 } from './base64.ts';
import { hashLength, rootOf, type Tree } from './tree.ts';

/** The head of a tree, as https://c2sp.org/tlog-checkpoint writes it. */
export interface Checkpoint {
  /** Whose tree it is: the stream's name. */
  readonly origin: string;
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** The text to sign: three lines. @param head a tree, or its size and root */
export const checkpointText = (origin: string, head: Tree | Omit<Checkpoint, 'origin'>): string =>
  `${origin}\n${head.size}\n${base64('root' in head ? head.root : rootOf(head))}\n`;

/**
 * Reads the text of a note; null when it says nothing of a tree.
 * Lines behind the third are somebody's own and say nothing of the tree; they may not be empty.
 */
export function parseCheckpoint(text: string): Checkpoint | null {
  if (!text.endsWith('\n')) return null;
  const lines = text.slice(0, -1).split('\n');
  const [origin = '', said = '', encoded = ''] = lines;
  const root = bytesFromBase64(encoded);
  if (lines.some((line) => line === '') || root?.length !== hashLength) return null;
  const size = readCount(said);
  return size === null ? null : { origin, size, root };
}

/** A count in decimal without leading zeros; null for anything else, and for what no number here can count. */
export function readCount(text: string): number | null {
  const count = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : null;
  return Number.isSafeInteger(count) ? count : null;
}
