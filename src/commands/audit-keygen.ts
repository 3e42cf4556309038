// `seb audit keygen`: makes a key that signs the heads of a trail.
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { newKey } from '../audit/signing.ts';
import { isKeyName } from '../core/note-key.ts';
import { type CommandContext, defineCommand, textOption, UsageError } from './command.ts';

export const auditKeygen = defineCommand({
  name: 'audit keygen',
  summary: 'Makes a key that signs the trail, and prints the key that checks it.',
  options: {
    name: {
      type: 'string',
      value: 'NAME',
      description: 'Who signs, such as audit.example.com/fleet: no spaces, no "+".',
    },
    out: { type: 'string', value: 'FILE', description: 'Where the key goes; a file that is there stays.' },
  },
  examples: [
    {
      line: 'audit keygen --name audit.example.com/fleet --out signing.key',
      shows: 'the verifier key, for everybody who is to check the trail',
    },
  ],
  notes: [
    'FILE is the secret, for its owner alone: name it in "signing.keyFile" of the consumer. Whoever has it can sign another trail in its place. The verifier key is no secret: publish it where whoever can change the trail cannot change it.',
    'To change keys: make a new one, name it in "signing.keyFile" and the one before in "signing.alsoKeyFiles", and start the consumer again: both sign. Give the new verifier key to everybody; when all have it, take the old file out of "alsoKeyFiles". Keep the old verifier key: what was signed before is checked with it. A key that somebody else may have had goes at once, without that time of both.',
    'The keys are Ed25519 in the texts of C2SP signed notes and of sumdb/note of Go, so other programs for transparency logs can use them.',
  ],
  async run(context) {
    const [name, out] = [required(context, 'name'), required(context, 'out')];
    if (!isKeyName(name))
      throw new UsageError('--name takes a name without spaces and "+", such as a host and a path');
    const { privateKey, verifierKey } = newKey(name);
    const fault = writeNewFile(out, `${privateKey}\n`);
    if (fault === null) {
      context.stdout.write(`${verifierKey}\n`);
      return 0;
    }
    context.stderr.write(`seb: ${out} cannot be written: ${fault}\n`);
    return 1;
  },
});

function required(context: CommandContext, name: string): string {
  const value = textOption(context, name);
  if (value === undefined || value === '') throw new UsageError(`"seb audit keygen" needs --${name}`);
  return value;
}

const ownerOnly = 0o600;

/**
 * Writes a file that is not there, whole and on the disk, or not at all.
 * @returns null when done, else what is in the way
 */
function writeNewFile(path: string, text: string): string | null {
  let isMade = false;
  try {
    const file = openSync(path, 'wx', ownerOnly);
    isMade = true;
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    keepName(dirname(path));
    return null;
  } catch (error) {
    if (isMade) unlinkSync(path);
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    return reasons[code] ?? `the system says ${code}`;
  }
}

/** The name of a new file is on the disk when its directory is; Windows cannot be asked for that. */
function keepName(directory: string): void {
  if (process.platform === 'win32') return;
  const opened = openSync(directory, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'there is such a file, and it may be the only copy of a key; give another name',
  ENOENT: 'its directory is not there',
  EACCES: 'this user may not write there',
};
