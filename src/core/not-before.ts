// Reads `NotBefore`, which Azure writes as RFC 1123 and its documentation and test doubles as ISO 8601.

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
// The weekday is not captured: Microsoft's own examples print the wrong one.
const rfc1123 =
  /^(?:[a-z]+,?\s+)?(\d{1,2})[\s-]([a-z]{3})[a-z]*[\s-](\d{4})\s+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*(z|gmt|utc|[+-]\d{2}:?\d{2})?$/i;
const iso8601 =
  /^(\d{4})-(\d{2})-(\d{2})[T\s](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(z|gmt|utc|[+-]\d{2}:?\d{2})?$/i;

/**
 * Reads a point in time.
 * @param text as it stands in the document; without a zone it means UTC, never the machine's zone
 * @returns RFC 3339 UTC in whole seconds (`2022-04-11T22:26:58Z`), or null for what is no time
 */
export function parseNotBefore(text: string): string | null {
  const trimmed = text.trim();
  const rfc = rfc1123.exec(trimmed);
  if (rfc !== null) {
    const month = months.indexOf((rfc[2] ?? '').toLowerCase()) + 1;
    return toUtc([rfc[3], month, rfc[1], rfc[4], rfc[5], rfc[6] ?? 0].map(Number), offsetMinutes(rfc[7]));
  }
  const iso = iso8601.exec(trimmed);
  if (iso === null) return null;
  return toUtc([iso[1], iso[2], iso[3], iso[4], iso[5], iso[6] ?? 0].map(Number), offsetMinutes(iso[7]));
}

function offsetMinutes(zone: string | undefined): number {
  const offset = /^([+-])(\d{2}):?(\d{2})$/.exec(zone ?? '');
  if (offset === null) return 0;
  return (offset[1] === '-' ? -1 : 1) * (Number(offset[2]) * 60 + Number(offset[3]));
}

function toUtc(parts: readonly number[], offset: number): string | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const midnight = new Date(Date.UTC(year, month - 1, day));
  // Date.UTC rolls 30 February over into March, and year 50 into 1950: such a text is garbage, not a time.
  const onTheCalendar = midnight.getUTCFullYear() === year && midnight.getUTCMonth() === month - 1;
  const onTheClock = hour < 24 && minute < 60 && second <= 60 && Math.abs(offset) < 24 * 60;
  if (!onTheCalendar || !onTheClock) return null;
  const time = new Date(midnight.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000);
  // Beyond the year 9999 there is no RFC 3339.
  return /^\d{4}-/.test(time.toISOString()) ? time.toISOString().replace('.000Z', 'Z') : null;
}
