// Says where what is whole of a file ends: behind its last line, or behind its last signed note.

const lineEnd = 0x0a;
// The dash that begins a signature line of a signed note, and the space behind it.
const signatureMark = Buffer.from('\u2014 ', 'utf8');

/**
 * How many of these bytes, the end of a file, are whole.
 * @returns null when nothing whole ends in them: they may be too few
 */
export const wholeLength = (name: string, end: Buffer): number | null =>
  name.endsWith('.notes') ? behindLastNote(end) : behindLastLine(end);

function behindLastLine(end: Buffer): number | null {
  const last = end.lastIndexOf(lineEnd);
  return last === -1 ? null : last + 1;
}

/** An empty line ends a note, where it stands behind a signature and not above it. */
function behindLastNote(end: Buffer): number | null {
  for (let at = end.lastIndexOf('\n\n'); at !== -1; at = at === 0 ? -1 : end.lastIndexOf('\n\n', at - 1)) {
    const line = at === 0 ? 0 : end.lastIndexOf(lineEnd, at - 1) + 1;
    if (end.subarray(line, line + signatureMark.length).equals(signatureMark)) return at + 2;
  }
  return null;
}
