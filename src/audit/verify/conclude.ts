// Judges each stream once its last entry went by: its head, who vouches for it, and what no seal names yet.
import { base64 } from '../../core/base64.ts';
import { parseCheckpoint } from '../../core/checkpoint.ts';
import { openNote } from '../../core/signed-note.ts';
import type { SourceStream } from '../store.ts';
import { judgeSignedHead } from './claims.ts';
import type { Walk } from './seal-pass.ts';
import { rangeText } from './stream-pass.ts';
import type { Checking } from './verify.ts';

export async function concludeStreams(checking: Checking): Promise<void> {
  for (const walk of checking.walks.values()) {
    await walk.claims.finish(walk.pass.size);
    checkHead(checking, walk);
  }
  checkSignatures(checking);
  checkUnvouched(checking);
  for (const walk of checking.walks.values()) {
    checkOtherKeys(checking, walk);
    checkCover(checking, walk);
  }
}

/** What the source itself says of a stream's end. */
function checkHead({ findings, options: { keys }, source }: Checking, { pass, standing }: Walk): void {
  const { name, size, root: saidRoot, note }: SourceStream = pass.stream;
  const here = pass.size;
  if (here < size) {
    const missing = rangeText(here, size - 1, 'entry', 'entries');
    const text = `${missing} of ${name} are missing: its head says ${size}, and only ${here} are here`;
    findings.add('entries-missing', { stream: name, index: here, text });
  } else if (here > size) {
    const text = `${name} has ${here} entries, and its head only speaks of ${size}: what is beyond was added without it`;
    findings.add('entries-beyond-head', { stream: name, index: size, text });
  }
  if (here !== size) return;
  const { lastSequenceNumber: last = pass.lastSequenceNumber } = pass.stream;
  if (last !== pass.lastSequenceNumber) {
    const text = `${name} says that its last entry has sequence number ${last}, and it has ${pass.lastSequenceNumber}: reading would go on at the wrong place`;
    findings.add('head-differs', { stream: name, index: Math.max(size - 1, 0), text });
  }
  const root = pass.root();
  const differs =
    saidRoot === null
      ? source.check !== null && size > 0
      : root !== null && Buffer.compare(saidRoot, root) !== 0;
  if (differs) {
    const text = `the tree that ${name} keeps of its ${size} entries is not the one that they make`;
    findings.add('head-differs', { stream: name, index: standing.agreedSize, text });
  }
  if (note !== null) judgeSignedHead({ stream: pass.stream, standing, keys, findings }, note, { size, root });
}

/** Whether a key that was given vouches for what others, by the journal, went on from. */
function checkUnvouched({ findings, facts, options: { keys } }: Checking): void {
  for (const { stream, size, root, note } of facts.unvouched) {
    const opened = note === null ? null : openNote(note, keys);
    const head = opened?.status === 'verified' ? parseCheckpoint(opened.text) : null;
    if (head?.origin === stream && head.size === size && base64(head.root) === root) continue;
    const who = note === null ? 'nobody had' : 'none of the keys that were given had';
    const text = `something was appended to ${stream} behind its head of size ${size}, which ${who} signed`;
    findings.add('head-unvouched', { stream, index: size, text });
  }
}

/** Whether anybody signed at all, and whether somebody is to have signed who did not. */
function checkSignatures({ walks, findings, facts, options: { keys }, source }: Checking): void {
  const signed = [...walks.values()].reduce((sum, { standing }) => sum + standing.signed, 0);
  const inForce = facts.keys.at(-1)?.keys ?? [];
  const isEmpty = [...walks.values()].every(({ pass }) => pass.size === 0);
  if (isEmpty) return;
  if (signed === 0 && inForce.length > 0) {
    const text = `the journal says that ${inForce.map(nameOf).join(', ')} signs this trail, and no signature is left`;
    findings.add('signature-missing', { text });
  } else if (signed === 0) {
    if (!findings.has('signature-missing'))
      findings.add('unsigned', {
        text: 'nothing of this trail is signed: who can write to it can write it anew',
      });
  } else if (keys.length === 0) {
    findings.add('no-keys', { text: 'no key was given, so that nobody’s signature was checked' });
  } else if (inForce.length > 0 && source.check !== null) checkLocalHeads(walks, findings);
}

const nameOf = (key: string): string => key.split('+')[0] ?? key;

/** Who signs, signs the journal with the very fact that says so. */
function checkLocalHeads(walks: Checking['walks'], findings: Checking['findings']): void {
  for (const { pass } of walks.values()) {
    const { kind, name, note, size } = pass.stream;
    if (kind !== 'journal' || note !== null || size === 0) continue;
    const text = `the head of ${name} is not signed, although the journal says who signs`;
    findings.add('signature-missing', { stream: name, index: size, text });
  }
}

/** Heads that only other keys signed are worth nothing, unless later ones vouch for the same entries. */
function checkOtherKeys({ findings }: Checking, { pass, standing }: Walk): void {
  const { otherKeys, signedSize } = standing;
  const { name } = pass.stream;
  if (otherKeys === null) return;
  const text = `the head of size ${otherKeys.size} of ${name} is signed by none of the keys that were given, but by ${otherKeys.names}`;
  const code = signedSize >= otherKeys.size ? 'older-keys' : 'signature-unknown';
  findings.add(code, { stream: name, index: otherKeys.size, text });
}

/** Whether a signature covers the last entries: the stream's own, or that of the seal that names them. */
function checkCover({ walks, findings, options: { keys } }: Checking, walk: Walk): void {
  const { pass, standing, sealedBy, sealedSize } = walk;
  const { name } = pass.stream;
  const sealing = sealedBy === null ? undefined : walks.get(sealedBy.stream);
  const isSealSigned = sealedBy !== null && (sealing?.standing.signedSize ?? 0) > sealedBy.index;
  const covered = Math.max(standing.signedSize, isSealSigned ? sealedSize : 0);
  // Who signed what no key covers was told already, and so was that nobody signs.
  const isTold =
    findings.has('unsigned') ||
    findings.has('signature-missing') ||
    (standing.otherKeys?.size ?? 0) > covered;
  if (keys.length === 0 || covered >= pass.size || isTold) return;
  const entries = rangeText(covered, pass.size - 1, 'entry', 'entries');
  const text = `no signature that was checked covers ${entries} of ${name}`;
  findings.add('head-unsigned', { stream: name, index: covered, text });
}
