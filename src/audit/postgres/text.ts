// Texts as PostgreSQL can hold them, and back: it has no NUL character, and no half of a surrogate pair.

// A backslash marks what was replaced, so it is marked itself: two texts never become one.
const unstorable = /[\\\0]|\p{Surrogate}/gu;
const marked = /\\(?:\\|u([0-9a-f]{4}))/g;

/**
 * The text in a form that fits a column; most texts stay as they are.
 * NUL: https://www.postgresql.org/docs/current/datatype-character.html.
 */
export const toColumn = (text: string): string =>
  text.replace(unstorable, (character) =>
    character === '\\' ? '\\\\' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The text that `toColumn` was given. */
export const fromColumn = (stored: string): string =>
  stored.replace(marked, (_, code: string | undefined) =>
    code === undefined ? '\\' : String.fromCharCode(Number.parseInt(code, 16)),
  );

export const toColumnOrNull = (text: string | null): string | null => (text === null ? null : toColumn(text));

export const fromColumnOrNull = (stored: unknown): string | null =>
  stored === null ? null : fromColumn(String(stored));
