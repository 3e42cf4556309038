// Writes JSON that a person may look at: what could steer the terminal, or turn its text around, stands there escaped.

// JSON itself escapes only the first 32 control characters.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** JSON that reads back as the same value. @param indent spaces for each level; all on one line unless given */
export const jsonText = (value: unknown, indent?: number): string =>
  // JSON's own line breaks are the only ones that are not within a text.
  JSON.stringify(value, null, indent).replaceAll(unseen, (sign) => (sign === '\n' ? sign : escaped(sign)));

const escaped = (sign: string): string =>
  Array.from({ length: sign.length }, (_, at) => codeOf(sign.charCodeAt(at))).join('');

const codeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
