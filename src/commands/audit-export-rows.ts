// Prints chosen entries of a trail: lines of JSON with the proof of each, or a table for spreadsheets.
import { entryLine } from '../audit/archive/entry-line.ts';
import { csvLine, flatColumns, flatRow } from '../audit/export/flat-row.ts';
import {
  type ProvenEntry,
  type ProvenExport,
  type ProvenHead,
  proveEntries,
} from '../audit/export/proven-entries.ts';
import { chooser, type Selection, streamsFor } from '../audit/export/selection.ts';
import type { TrailSource } from '../audit/store.ts';
import { base64 } from '../core/base64.ts';
import type { CommandContext } from './command.ts';
import { jsonText } from './json-text.ts';

const contradicted = 10;

/** Whoever read what is printed has gone, as `head` does: that is no fault, and the rest is not printed. */
export class ReaderGone extends Error {}

/** Each entry with its proof, and behind them the heads that the proofs lead to. @returns the exit code */
export async function writeLines(
  context: CommandContext,
  source: TrailSource,
  selection: Selection,
): Promise<number> {
  const found = await proveEntries(source, selection, context.signal);
  if (found.status === 'too-many') {
    context.stderr.write(
      `seb: what holds these entries has more than ${found.max} of them, too many to prove at once: write the whole trail with --to, or prove single records with "seb audit prove"\n`,
    );
    return 1;
  }
  if (found.status === 'contradicted') {
    context.stderr.write(
      `seb: the entries of ${found.stream} are not those that were signed; see "seb audit verify"\n`,
    );
    return contradicted;
  }
  const print = printer(context);
  for await (const each of found.entries()) await print(lineOf(each));
  for (const head of found.heads) await print(`${jsonText({ checkpoint: checkpointOf(head) })}\n`);
  await print.end();
  sayWhatIsUnproven(context, found);
  return 0;
}

/** The entry as it stands in a file of a copy, with its stream in front and its proof behind. */
function lineOf({ stream, entry, path }: ProvenEntry): string {
  const said = JSON.parse(entryLine(entry));
  return `${jsonText({ stream, ...said, proof: path === null ? null : path.map(base64) })}\n`;
}

const checkpointOf = ({ stream, size, root, note }: ProvenHead) => ({
  stream,
  size,
  root: base64(root),
  note,
});

function sayWhatIsUnproven({ stderr }: CommandContext, { count, heads }: ProvenExport): void {
  if (count === 0) stderr.write('no entry matches\n');
  const unsigned = heads.filter(({ note }) => note === null).length;
  if (unsigned > 0)
    stderr.write(`the heads of ${unsigned} streams are not signed: nothing proves these entries\n`);
}

/** A row for each entry. @returns the exit code */
export async function writeCsv(
  context: CommandContext,
  source: TrailSource,
  selection: Selection,
): Promise<number> {
  const isChosen = chooser(selection);
  const print = printer(context);
  await print(csvLine(flatColumns));
  for (const { name } of await streamsFor(source, selection)) {
    for await (const chunk of source.entries(name)) {
      context.signal.throwIfAborted();
      for (const entry of chunk) if (isChosen(entry)) await print(csvLine(flatRow(name, entry)));
    }
  }
  await print.end();
  return 0;
}

const pieceLength = 64 * 1024;

interface Printer {
  (text: string): Promise<void>;
  /** Everything was taken by whoever reads. */
  end(): Promise<void>;
}

/** Prints in pieces, and waits for whoever reads: what is long does not gather in memory. */
function printer({ stdout }: CommandContext): Printer {
  let waiting = '';
  const flush = async (): Promise<void> => {
    const piece = waiting;
    waiting = '';
    if (piece === '') return;
    const fault = await new Promise<unknown>((resolve) => stdout.write(piece, resolve));
    if (fault) throw new ReaderGone('nobody reads on');
  };
  const print = async (text: string): Promise<void> => {
    waiting += text;
    if (waiting.length >= pieceLength) await flush();
  };
  return Object.assign(print, { end: flush });
}
