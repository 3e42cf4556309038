// `seb audit verify-proof`: whether a record stands in the trail that a key signed, from two files alone.
import { hashBody } from '../core/leaf.ts';
import { judgeProof, type ProofFault, type ProvenRecord } from '../core/record-proof.ts';
import { type CommandContext, defineCommand, textOption, UsageError } from './command.ts';
import { readGivenFile } from './given-file.ts';
import { givenKeys, keyOptions } from './verifier-keys.ts';

// A proof is at most as long as the note in it; a record is one event of a hub, of which Azure takes 20 MB at most.
const proofLengthMax = 2_000_000;
const recordLengthMax = 64 * 1024 * 1024;

export const auditVerifyProof = defineCommand({
  name: 'audit verify-proof',
  summary: 'Says whether a record stands in a signed trail, from its proof and a key alone.',
  operands: 'PROOF [RECORD]',
  options: {
    ...keyOptions,
    sha256: {
      type: 'string',
      value: 'HEX',
      description: 'The hash of the record instead of the file RECORD, for a record that was pruned.',
    },
  },
  examples: [
    {
      line: 'audit verify-proof started.tlog-proof started.json --key audit.example.com/fleet+b2d3ad2e+AQ0n…',
      shows: 'one sentence; exit code 0 when it is proven, 10 when it is not',
    },
  ],
  notes: [
    'PROOF is what "seb audit prove" printed; RECORD holds the exact bytes of the record, as "prove --record" wrote them. Neither the trail nor a network is needed.',
    'It proves that the owner of the key signed a trail that holds this record, at this place, and when the hub stored it. It does not prove that the record tells the truth, nor that nothing is missing: that is what "seb audit verify" is for.',
    'Exit codes: 0 proven, 10 not proven, 2 a file or a key cannot be read.',
  ],
  async run(context) {
    const [path = '', recordPath] = context.operands;
    const keys = givenKeys(context);
    if (keys.length === 0) throw new UsageError('say whom to trust: --key or --key-file');
    const record = recordOf(context, recordPath);
    const proof = readGivenFile(path, proofLengthMax).toString('utf8');
    const judged = judgeProof(proof, record.sha256, keys);
    if (judged.status === 'proven') {
      context.stdout.write(`proven: ${sentenceOf(judged)}\n`);
      return 0;
    }
    const { shorter } = record;
    const isLonger = shorter !== null && judgeProof(proof, shorter, keys).status === 'proven';
    context.stdout.write(`not proven: ${isLonger ? withLineBreak : explanations[judged.status]}\n`);
    return notProven;
  },
});

const notProven = 10;

interface GivenRecord {
  readonly sha256: Uint8Array;
  /** The same without the line break at the end of the file, which editors and shells add; null when there is none. */
  readonly shorter: Uint8Array | null;
}

function recordOf(context: CommandContext, path: string | undefined): GivenRecord {
  const hex = textOption(context, 'sha256');
  if ((hex === undefined) === (path === undefined)) {
    throw new UsageError('say which record is meant: either the file RECORD or --sha256');
  }
  if (hex !== undefined) {
    if (!/^[0-9a-f]{64}$/i.test(hex)) throw new UsageError('--sha256 takes the 64 hex digits of a SHA-256');
    return { sha256: Buffer.from(hex, 'hex'), shorter: null };
  }
  const bytes = readGivenFile(path ?? '', recordLengthMax);
  const length = bytes.toString('latin1').replace(/\r?\n$/, '').length;
  return {
    sha256: hashBody(bytes),
    shorter: length === bytes.length ? null : hashBody(bytes.subarray(0, length)),
  };
}

function sentenceOf({ stream, index, size, leaf, signedBy }: ProvenRecord): string {
  const { sequenceNumber, enqueuedMs } = leaf;
  const stored = new Date(enqueuedMs).toISOString();
  const place = `entry ${index} of ${stream}, sequence number ${sequenceNumber}, stored there at ${stored}`;
  return `this record is ${place}, in the tree of ${size} entries that ${signedBy.join(' and ')} signed`;
}

const withLineBreak =
  'the file has a line break at its end that the record does not have; without it, the record is proven';

const explanations: Readonly<Record<ProofFault, string>> = {
  malformed: 'the proof is damaged, or no proof at all',
  'without-leaf': 'the proof does not say what its leaf is made of, so the record cannot be compared with it',
  'other-record': 'these are not the bytes that the proof is for: the record was changed, or is another one',
  'not-in-tree': 'the proof does not lead to the root that was signed: it was changed, or is of another tree',
  unsigned: 'nobody signed the checkpoint in the proof',
  'unknown-keys': 'none of the given keys signed the checkpoint in the proof',
  'wrong-signature':
    'the signature of a given key is not valid: the checkpoint in the proof was changed, or never signed',
};
