// Reads single values out of JSON from outside: what is not there, or not of the kind, is null.

/** What is kept of a text: the raw bytes keep what is cut off. */
export const textLengthMax = 4_096;

/** What stands under this name, if the value is an object that has it itself. */
export function child(wire: unknown, name: string): unknown {
  if (typeof wire !== 'object' || wire === null) return undefined;
  return Object.hasOwn(wire, name) ? (wire as Record<string, unknown>)[name] : undefined;
}

/** A text, well-formed and not endless. */
export function textAt(wire: unknown, name: string, lengthMax: number = textLengthMax): string | null {
  const value = child(wire, name);
  return typeof value === 'string' ? value.toWellFormed().slice(0, lengthMax) : null;
}

/** A finite number. */
export function numberAt(wire: unknown, name: string): number | null {
  const value = child(wire, name);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** A whole number that is not negative and that every store holds exactly. */
export function countAt(wire: unknown, name: string): number | null {
  const value = child(wire, name);
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

/** Epoch ms, or NaN. Without an offset a time would mean another one on every machine that reads it. */
export const readTime = (text: string): number => (rfc3339.test(text) ? Date.parse(text) : Number.NaN);

/** A time in RFC 3339, as epoch ms. */
export function timeAt(wire: unknown, name: string): number | null {
  const at = readTime(textAt(wire, name) ?? '');
  return Number.isNaN(at) ? null : at;
}
