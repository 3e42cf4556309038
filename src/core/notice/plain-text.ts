// Makes texts from outside fit to be read by people: one line, nothing invisible, no longer than there is room for.

/** Stands at the end of a text that was cut, so that nobody takes the rest for all there was. */
export const shortenedMark = '… (shortened)';

/**
 * The text on one line, without control characters and without what cannot be seen but changes how the rest reads,
 * such as zero-width characters and changes of direction.
 */
export const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '')
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim();

/**
 * The text, or its beginning and a mark that says so.
 * @param lengthMax in UTF-16 units, mark included; at least the mark's own length
 */
export function shortened(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const kept = text.slice(0, Math.max(0, lengthMax - shortenedMark.length));
  // Half of a pair of surrogates is no character.
  return kept.replace(/[\uD800-\uDBFF]$/, '').trimEnd() + shortenedMark;
}

/**
 * The lines of a text on one line, or the end of it behind a mark that says so.
 * @param lengthMax in UTF-16 units, mark included; at least 50
 */
export function endOfLines(text: string, lengthMax: number): string {
  // A line break is one unit and becomes three: what does not fit before is not looked at.
  const lines = text
    .slice(-lengthMax)
    .split(/\r\n?|\n/)
    .map(plainText);
  const line = lines.filter((each) => each !== '').join(lineBreak);
  if (line === '' || (line.length <= lengthMax && text.length <= lengthMax)) return line;
  return (
    beginningCut +
    line
      .slice(-(lengthMax - beginningCut.length))
      .replace(/^[\uDC00-\uDFFF]/, '')
      .trimStart()
  );
}

const lineBreak = ' ⏎ ';
const beginningCut = '(the end) … ';
