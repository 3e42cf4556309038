// `seb audit export`: the trail for somebody else: whole, in files that prove themselves, or in part.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type ArchiveFault, archiveAdvice } from '../audit/archive/fault.ts';
import { openFolderFiles } from '../audit/archive/folder-files.ts';
import { identityName } from '../audit/archive/layout.ts';
import { openArchiveWriter } from '../audit/archive/writer.ts';
import type { Selection } from '../audit/export/selection.ts';
import { type TrailSource, TrailUnusable } from '../audit/store.ts';
import { ReaderGone, writeCsv, writeLines } from './audit-export-rows.ts';
import { type CommandContext, defineCommand, textOption, UsageError } from './command.ts';
import { chosenZone, readMoment, zoneOptions } from './moment.ts';
import { openChosenSource, trailOrCopyOptions } from './trail.ts';

export const auditExport = defineCommand({
  name: 'audit export',
  summary: 'Writes the trail out: whole, as files that prove themselves, or chosen entries.',
  options: {
    ...trailOrCopyOptions,
    to: {
      type: 'string',
      value: 'FOLDER',
      description: 'Write the whole trail into this folder, which "seb audit verify --trail FOLDER" checks.',
    },
    output: {
      type: 'string',
      short: 'o',
      value: 'FORMAT',
      description: 'Print entries instead: jsonl with the proof of each, or csv for a spreadsheet.',
    },
    since: {
      type: 'string',
      value: 'TIME',
      description: 'Only entries that the hub stored at this time or later.',
    },
    until: {
      type: 'string',
      value: 'TIME',
      description: 'Only entries that the hub stored before this time.',
    },
    event: { type: 'string', value: 'EVENT_ID', description: 'Only records of this event.' },
    ...zoneOptions,
  },
  examples: [
    {
      line: 'audit export -c consumer.yaml --to ./export',
      shows: 'how much went there; again, it adds what is new',
    },
    {
      line: 'audit export --trail ./trail.db -o jsonl --event c7061bac-afdc-4513-b24b-aa5f13a16123',
      shows: 'each record of one event with its proof, and the signed heads behind them',
    },
    { line: 'audit export -c consumer.yaml -o csv --since 30d', shows: 'a table of the last 30 days' },
  ],
  notes: [
    'docs/trail-format.md says what stands in each file and line. The folder must be empty or the export of the same trail; one that was broken off goes on.',
    'Bodies that were pruned are not in an export that is made afterwards; what an earlier one holds stays there.',
    'In CSV a text that a spreadsheet would take for a formula gets an apostrophe in front. A table proves nothing.',
    'Reading the trail leaves nothing behind in it, so that whoever may only read it may export it.',
    'Exit codes: 0 written, 1 not or not all of it, 10 the entries are not those that were signed, 130 interrupted.',
  ],
  async run(context) {
    const zone = chosenZone(context);
    const [to, format] = [textOption(context, 'to'), textOption(context, 'output')];
    if ((to === undefined) === (format === undefined)) {
      throw new UsageError('"seb audit export" takes one of --to FOLDER and -o jsonl or -o csv');
    }
    if (format !== undefined && format !== 'jsonl' && format !== 'csv') {
      throw new UsageError(`--output takes jsonl or csv, not "${format}"`);
    }
    const selection = selectionOf(context, zone);
    if (to !== undefined && Object.keys(selection).length > 0) {
      throw new UsageError('--to writes the whole trail: --since, --until and --event belong to -o');
    }
    try {
      await using source = await openChosenSource(context);
      if (to !== undefined) return await writeFolder(context, source, resolve(to));
      return await (format === 'csv' ? writeCsv : writeLines)(context, source, selection);
    } catch (error) {
      if (context.signal.aborted) return 130;
      if (error instanceof ReaderGone) return 0;
      if (!(error instanceof TrailUnusable)) throw error;
      return complain(context, error.message);
    }
  },
});

function selectionOf(context: CommandContext, zone: string): Selection {
  const [since, until, event] = ['since', 'until', 'event'].map((name) => textOption(context, name));
  const now = Date.now();
  return {
    ...(since === undefined ? {} : { since: readMoment(since, 'since', zone, now) }),
    ...(until === undefined ? {} : { until: readMoment(until, 'until', zone, now) }),
    ...(event === undefined ? {} : { eventId: event }),
  };
}

function complain(context: CommandContext, sentence: string): number {
  context.stderr.write(`seb: ${sentence}\n`);
  return 1;
}

// Each of them is somebody else who writes there.
const triesMax = 100;

async function writeFolder(context: CommandContext, source: TrailSource, folder: string): Promise<number> {
  const { signal, stderr } = context;
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
    throw new UsageError(`${folder} is a file, and --to takes a folder`);
  await using files = openFolderFiles(folder);
  const found = await files.list('', signal);
  if (found.status === 'failed') return unwritten(context, folder, found.reason);
  const isExport = found.files.some(({ name }) => name === identityName);
  if (found.files.length > 0 && !isExport)
    throw new UsageError(`${folder} is not empty, and no export of a trail`);
  const writer = openArchiveWriter(files);
  let [entries, tries] = [0, 0];
  for (let isDone = false; !isDone; tries += 1) {
    if (tries > triesMax) return unwritten(context, folder, 'locked');
    const result = await writer.copy(source, { signal, lengthMax: Number.POSITIVE_INFINITY, heads: 'all' });
    if (result.status === 'failed' && result.reason === 'aborted') {
      stderr.write(`interrupted; the same command goes on where it stopped\n`);
      return 130;
    }
    if (result.status === 'failed' && result.reason === 'another-trail') {
      throw new UsageError(`${folder} is the export of another trail`);
    }
    if (result.status === 'failed') return unwritten(context, result.at ?? folder, result.reason);
    entries += result.entries;
    isDone = result.status === 'done';
  }
  return await report(context, source, folder, entries);
}

const unwritten = (context: CommandContext, place: string, reason: ArchiveFault): number =>
  complain(context, `the trail was not written out (${reason} at ${place}): ${archiveAdvice[reason]}`);

async function report(
  context: CommandContext,
  source: TrailSource,
  folder: string,
  entries: number,
): Promise<number> {
  const streams = await source.streams();
  const total = streams.reduce((sum, { size }) => sum + size, 0);
  const unsigned = streams.filter(({ note }) => note === null).length;
  context.stderr.write(
    `${folder} holds ${total} entries of ${streams.length} streams, ${entries} of them new\n`,
  );
  if (unsigned > 0) context.stderr.write(`the newest heads of ${unsigned} streams are not signed\n`);
  const faults = source.faults?.() ?? [];
  if (faults.length === 0) return 0;
  const [first] = faults;
  return complain(
    context,
    `what was read is not all of a copy's own (${first?.kind} at ${first?.place}): see "seb audit verify"`,
  );
}
