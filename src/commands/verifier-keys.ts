// Which keys a check trusts: those on the command line, or the ones that the consumer signs with.

import type * as z from 'zod';
import { openSigner } from '../audit/signing.ts';
import type { signing } from '../config/consumer-trail.ts';
import { type KeyFault, parseVerifierKey, type VerifierKey } from '../core/signed-note.ts';
import { type CommandContext, type CommandOptions, textOption, UsageError } from './command.ts';
import { readGivenFile } from './given-file.ts';

/** The options of every command that checks signatures. */
export const keyOptions: CommandOptions = {
  key: {
    type: 'string',
    multiple: true,
    value: 'KEY',
    description: 'A verifier key that is trusted, as "seb audit keygen" printed it; may be repeated.',
  },
  'key-file': { type: 'string', value: 'FILE', description: 'A file of such keys, one on each line.' },
};

const keyFileLengthMax = 1_000_000;
const keysMax = 1000;

/**
 * The keys on the command line; none when none is given.
 * @throws UsageError
 */
export function givenKeys(context: CommandContext): readonly VerifierKey[] {
  const named = [context.options['key'] ?? []].flat().map((text) => keyFrom(String(text), '--key'));
  const path = textOption(context, 'key-file');
  if (path === undefined) return named;
  const lines = readGivenFile(path, keyFileLengthMax).toString('utf8').split('\n');
  const meant = lines.flatMap((line, place) => (isBlank(line) ? [] : [[line, place + 1] as const]));
  if (meant.length > keysMax) throw new UsageError(`${path} holds more than ${keysMax} keys`);
  if (meant.length === 0) throw new UsageError(`${path} holds no key`);
  return [...named, ...meant.map(([line, place]) => keyFrom(line, `${path}, line ${place}`))];
}

/** Empty, or a remark. */
const isBlank = (line: string): boolean => /^\s*(#|$)/.test(line);

/**
 * The keys on the command line, else the public halves of those that a consumer signs with; none when nobody signs.
 * @param settings the `signing` of its file
 * @throws UsageError, SigningUnusable
 */
export function trustedKeys(
  context: CommandContext,
  settings: z.output<typeof signing> | null,
): readonly VerifierKey[] {
  const given = givenKeys(context);
  if (given.length > 0 || settings === undefined || settings === null) return given;
  const { keys } = openSigner([settings.keyFile, ...settings.alsoKeyFiles]);
  return keys.map((text) => keyFrom(text, settings.keyFile));
}

const explanations: Readonly<Record<KeyFault, string>> = {
  malformed: 'is no verifier key, which reads name+id+base64',
  'other-algorithm': 'is a key of another algorithm than Ed25519',
  'wrong-id': 'is not what was given out: its id does not fit its name and key',
};

/** What is wrong with a text is said without it: it may be the key that signs, given by mistake. */
function keyFrom(text: string, place: string): VerifierKey {
  const parsed = parseVerifierKey(text.trim());
  if (parsed.status === 'parsed') return parsed.key;
  if (text.includes('PRIVATE+KEY')) {
    throw new UsageError(`${place} is the key that signs, which is a secret: give the verifier key`);
  }
  throw new UsageError(`${place} ${explanations[parsed.status]}`);
}
