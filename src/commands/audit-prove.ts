// `seb audit prove`: the proof that one record stands in the signed trail, for somebody who has neither.
import { writeFileSync } from 'node:fs';
import { findRecord } from '../audit/find-record.ts';
import { type EntryChoice, type Proving, proveEntry } from '../audit/prove.ts';
import { type RecordPlace, type StoredEntry, type TrailSource, TrailUnusable } from '../audit/store.ts';
import { type CommandContext, defineCommand, numberOption, textOption, UsageError } from './command.ts';
import { openChosenSource, trailOrCopyOptions } from './trail.ts';
import { givenKeys, keyOptions } from './verifier-keys.ts';

export const auditProve = defineCommand({
  name: 'audit prove',
  summary: 'Prints the proof that one record stands in the signed trail.',
  operands: '[ID]',
  options: {
    ...trailOrCopyOptions,
    source: {
      type: 'string',
      value: 'SOURCE',
      description: 'Which record, when several observers sent this id.',
    },
    stream: { type: 'string', value: 'STREAM', description: 'The stream of the entry, instead of an ID.' },
    'sequence-number': {
      type: 'string',
      value: 'N',
      description: 'The entry in that stream, as the hub counts.',
    },
    index: { type: 'string', value: 'N', description: 'The entry in that stream, counted from 0.' },
    record: {
      type: 'string',
      value: 'FILE',
      description: 'Where the bytes of the record go as well; a file that is there stays.',
    },
    ...keyOptions,
  },
  examples: [
    {
      line: 'audit prove c7061bac-afdc-4513-b24b-aa5f13a16123_started --record started.json',
      shows: 'the proof, to be kept as started.tlog-proof beside the record',
    },
    {
      line: 'audit prove --trail ./export --stream ns.servicebus.windows.net/scheduled-events/0/20261110T222704118Z --sequence-number 41',
      shows: 'the same for an entry by its place, in an exported folder',
    },
  ],
  notes: [
    'The proof is against the newest signed head of the stream. With --key or --key-file, only a head counts that one of these keys signed. "seb audit verify-proof" checks it, as can any other program for C2SP tlog-proof.',
    'A record whose bytes were pruned can still be proven to whoever has kept them, and to everybody by their hash.',
    'Exit codes: 0 proven, 1 there is no such record or nobody signed, 10 the trail contradicts what was signed.',
  ],
  async run(context) {
    const keys = givenKeys(context);
    const wanted = wantedBy(context);
    try {
      await using source = await openChosenSource(context);
      const place = await placeOf(context, source, wanted);
      if (place === null) return 1;
      return report(context, place.stream, await proveEntry(source, { ...place, keys }, context.signal));
    } catch (error) {
      if (context.signal.aborted) return 1;
      if (!(error instanceof TrailUnusable)) throw error;
      return complain(context, error.message);
    }
  },
});

interface Place {
  readonly stream: string;
  readonly choice: EntryChoice;
}

type Wanted = { readonly id: string; readonly from: string | undefined } | Place;

function wantedBy(context: CommandContext): Wanted {
  const [id] = context.operands;
  const [stream, from, number, index] = ['stream', 'source', 'sequence-number', 'index'].map((name) =>
    textOption(context, name),
  );
  const isPlace = stream !== undefined && (number === undefined) !== (index === undefined);
  if (id !== undefined && stream === undefined && number === undefined && index === undefined)
    return { id, from };
  if (id !== undefined || !isPlace || from !== undefined) {
    throw new UsageError(
      'say which record is meant: ID, with --source if need be, or --stream and --sequence-number',
    );
  }
  const bounds = { fallback: 0, min: 0, max: Number.MAX_SAFE_INTEGER };
  return number === undefined
    ? { stream, choice: { index: numberOption(context, 'index', bounds) } }
    : { stream, choice: { sequenceNumber: numberOption(context, 'sequence-number', bounds) } };
}

/** @returns null when it is not one record; that has been said */
async function placeOf(context: CommandContext, source: TrailSource, wanted: Wanted): Promise<Place | null> {
  if ('stream' in wanted) return wanted;
  const all = await findRecord(source, wanted.id, context.signal);
  const places = all.filter((place) => wanted.from === undefined || place.source === wanted.from);
  const [first] = places;
  if (first === undefined || places.length > 1) {
    complain(context, first === undefined ? nothing(wanted.id, all, source) : several(places));
    return null;
  }
  return { stream: first.stream, choice: { index: first.index } };
}

function nothing(id: string, all: readonly RecordPlace[], { place, find }: TrailSource): string {
  if (all.length > 0) return `no record "${id}" is from that source, but ${listed(all)}`;
  const pruned = find === null ? ', or it was pruned: then name its --stream and --sequence-number' : '';
  // Whoever looked at `seb events` has the id of the event in hand.
  const hint = id.includes('_')
    ? ''
    : `; the id of a record is that of its event and what became of it, such as ${id}_started`;
  return `the trail in ${place} holds no record "${id}"${pruned}${hint}`;
}

function several(places: readonly RecordPlace[]): string {
  const sources = new Set(places.map(({ source }) => source));
  if (sources.size === places.length) {
    return `${places.length} observers sent this id; say which with --source: ${listed(places)}`;
  }
  const at = places.map(
    ({ stream, index, source }) => `--stream ${stream} --index ${index} (from ${source})`,
  );
  return `this id stands there with different bytes; say which: ${firstOf(at)}`;
}

const listed = (places: readonly RecordPlace[]): string =>
  firstOf([...new Set(places.map(({ source }) => source))].sort());

const listedMax = 20;

function firstOf(texts: readonly string[]): string {
  const more = texts.length > listedMax ? ` and ${texts.length - listedMax} more` : '';
  return `${texts.slice(0, listedMax).join(', ')}${more}`;
}

function report(context: CommandContext, stream: string, proving: Proving): number {
  if (proving.status !== 'proven') {
    complain(context, faults[proving.status](stream));
    return proving.status === 'damaged' || proving.status === 'contradicted' ? contradicted : 1;
  }
  const { proof, entry, head } = proving;
  const path = textOption(context, 'record');
  const fault = path === undefined ? null : writeRecord(path, entry.body);
  context.stdout.write(proof);
  const place = `entry ${entry.index} of ${stream}, sequence number ${entry.sequenceNumber}`;
  context.stderr.write(`${place}, stands in the signed tree of ${head.size} entries\n`);
  if (path === undefined && entry.body === null) context.stderr.write(`${prunedNote(entry)}\n`);
  return fault === null ? 0 : complain(context, `${path} was not written: ${fault}`);
}

const prunedNote = ({ bodySha256 }: StoredEntry): string =>
  `its bytes were pruned; the proof is good for whoever has kept them, and for --sha256 ${Buffer.from(bodySha256).toString('hex')}`;

const contradicted = 10;

const faults: Readonly<Record<Exclude<Proving['status'], 'proven'>, (stream: string) => string>> = {
  'no-such-entry': (stream) => `the trail holds no such entry of ${stream}`,
  'not-signed': (stream) =>
    `no signed head of ${stream} covers this entry: the consumer signs when its "signing.keyFile" is set, and with --key only heads of that key count`,
  damaged: (stream) =>
    `the bytes of this entry of ${stream} are not those that its hash is of; see "seb audit verify"`,
  contradicted: (stream) => `the entries of ${stream} are not those that were signed; see "seb audit verify"`,
};

/** @returns null when done, else what is in the way */
function writeRecord(path: string, body: Uint8Array | null): string | null {
  if (body === null) return 'the bytes of this record were pruned';
  try {
    writeFileSync(path, body, { flag: 'wx' });
    return null;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return code === 'EEXIST' ? 'there is such a file' : `the system says ${code}`;
  }
}

function complain(context: CommandContext, sentence: string): number {
  context.stderr.write(`seb: ${sentence}\n`);
  return 1;
}
