// Writes and reads signed notes one after another, as files and blobs keep them: an empty line behind each.

/** A note as it is added to others. */
export const listedNote = (note: string): string => `${note}\n`;

const signatureMark = '\u2014 ';

/**
 * The notes in a text, in their order, byte for byte; what is no whole note, such as the torn end of a write that was
 * cut short, is left out. Whether anybody signed them is not asked here.
 */
export function notesIn(text: string): readonly string[] {
  // A note is a text and its signatures with an empty line between them, and no text holds one itself.
  const blocks = text.split(/\n{2,}/);
  return blocks.flatMap((block, place) => {
    const above = blocks[place - 1]?.replace(/^\n+/, '');
    const isWhole = place < blocks.length - 1 || block.endsWith('\n');
    if (!block.startsWith(signatureMark) || !isWhole) return [];
    if (above === undefined || above === '' || above.startsWith(signatureMark)) return [];
    return [`${above}\n\n${block.replace(/\n$/, '')}\n`];
  });
}
