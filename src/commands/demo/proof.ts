// The demo's last word on its trail: signed and anchored like a real one, and checked again from its bytes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { newKey } from '../../audit/signing.ts';
import { openSqliteSource } from '../../audit/sqlite-source.ts';
import { readAnchor } from '../../audit/verify/anchors.ts';
import { reportOf } from '../../audit/verify/report.ts';
import { verifyTrail } from '../../audit/verify/verify.ts';
import { parseVerifierKey } from '../../core/signed-note.ts';
import type { CommandContext } from '../command.ts';

/** What the consumer signs with and where it leaves its heads, as its settings name them. */
export interface ProofPlaces {
  readonly keyFile: string;
  readonly anchorPath: string;
  readonly verifierKey: string;
}

/** Makes a key in the demo's directory; it is gone with it. */
export function makeProofPlaces(directory: string): ProofPlaces {
  const { privateKey, verifierKey } = newKey('demo.invalid/fleet');
  const keyFile = join(directory, 'signing.key');
  writeFileSync(keyFile, privateKey, { mode: 0o600, flag: 'wx' });
  return { keyFile, anchorPath: join(directory, 'anchor.notes'), verifierKey };
}

/**
 * Checks a trail whose consumer has stopped, and says what it came to.
 * @returns whether everything was proven
 */
export async function proveTrail(
  trailPath: string,
  { verifierKey, anchorPath }: ProofPlaces,
  { stdout, signal }: CommandContext,
): Promise<boolean> {
  const parsed = parseVerifierKey(verifierKey);
  const keys = parsed.status === 'parsed' ? [parsed.key] : [];
  const anchors = [await readAnchor({ type: 'file', path: anchorPath }, signal)];
  await using source = openSqliteSource(trailPath);
  const options = { keys, anchors, now: Date.now(), maxAgeMs: null, signal };
  const { sentence, exitCode } = reportOf(await verifyTrail(source, options));
  const colour = exitCode === 0 ? 'green' : 'red';
  stdout.write(`Its trail, checked again    ${styleText(colour, sentence, { stream: stdout })}\n`);
  return exitCode === 0;
}
