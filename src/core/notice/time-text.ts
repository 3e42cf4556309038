// Points and lengths of time as people read them, and the reading of what a record writes.

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;

/** Epoch ms of an RFC 3339 time; null for anything else, and for a time whose UTC year has not four digits. */
export function readTime(value: unknown): number | null {
  if (typeof value !== 'string' || !rfc3339.test(value)) return null;
  const at = Date.parse(value);
  return Number.isNaN(at) || !/^\d{4}-/.test(new Date(at).toISOString()) ? null : at;
}

/** RFC 3339 UTC in whole seconds, such as `2026-11-10T22:26:58Z`. @param at epoch ms, of a year with four digits */
export const isoSeconds = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;

/** Such as `2026-11-10 22:26:58 UTC`. @param at epoch ms, of a year with four digits */
export const utcText = (at: number): string => `${isoSeconds(at).slice(0, 19).replace('T', ' ')} UTC`;

const units = [
  { seconds: 86_400, name: 'd' },
  { seconds: 3_600, name: 'h' },
  { seconds: 60, name: 'min' },
  { seconds: 1, name: 's' },
] as const;

const secondsMax = 1_000 * 86_400;

/** A length of time in its two largest units, such as `15 min 26 s`. @param seconds not negative */
export function lengthText(seconds: number): string {
  if (seconds > secondsMax) return 'more than 1000 d';
  if (seconds > 0 && seconds < 1) return 'less than 1 s';
  const whole = Math.round(seconds);
  const first = units.findIndex((unit) => whole >= unit.seconds);
  const [large, small] = [units[first], units[first + 1]];
  if (large === undefined) return '0 s';
  const rest = small === undefined ? 0 : Math.floor((whole % large.seconds) / small.seconds);
  const text = `${Math.floor(whole / large.seconds)} ${large.name}`;
  return small === undefined || rest === 0 ? text : `${text} ${rest} ${small.name}`;
}

// Up to here the first unit is precise enough, and a length may be wrong by no more than the second one.
const tenthsMsMax = 10_000;
const secondsMsMax = 120_000;

/**
 * Between which bounds something lasted, such as `2.7 to 3.0 s`: never narrower than they are.
 * @param bounds not negative, the lower one first
 */
export function boundsText({
  lowerMs,
  upperMs,
}: {
  readonly lowerMs: number;
  readonly upperMs: number;
}): string {
  if (upperMs > secondsMsMax) return joined(coarse(lowerMs, Math.floor), coarse(upperMs, Math.ceil));
  const digits = upperMs <= tenthsMsMax ? 1 : 0;
  const unitMs = 1_000 / 10 ** digits;
  const text = (ms: number, round: (value: number) => number) =>
    (round(ms / unitMs) / 10 ** digits).toFixed(digits);
  const [lower, upper] = [text(lowerMs, Math.floor), text(upperMs, Math.ceil)];
  if (Number(lower) === 0) return `up to ${upper} s`;
  return `${joined(lower, upper)} s`;
}

const joined = (lower: string, upper: string): string => (lower === upper ? lower : `${lower} to ${upper}`);

/** In steps of the smaller of the two units that are shown. */
function coarse(ms: number, round: (value: number) => number): string {
  const seconds = ms / 1_000;
  const step = seconds >= 86_400 ? 3_600 : seconds >= 3_600 ? 60 : 1;
  return lengthText(round(seconds / step) * step);
}
