// Points in time as people say and read them, in a zone that is always named.
import { type CommandContext, type CommandOptions, textOption, UsageError } from './command.ts';

/** The options of every command that prints times. */
export const zoneOptions: CommandOptions = {
  utc: { type: 'boolean', description: 'Print and read times in UTC.' },
  tz: {
    type: 'string',
    value: 'ZONE',
    description: 'Print and read times in this zone, such as Europe/Oslo.',
  },
};

/**
 * The zone that `--utc` or `--tz` names, or this machine's own.
 * @throws UsageError
 */
export function chosenZone(context: CommandContext): string {
  const named = textOption(context, 'tz');
  if (context.options['utc'] === true) {
    if (named === undefined) return 'UTC';
    throw new UsageError('--utc and --tz exclude each other');
  }
  try {
    return new Intl.DateTimeFormat('en', { timeZone: named }).resolvedOptions().timeZone;
  } catch {
    throw new UsageError(`--tz takes the name of a time zone, such as Europe/Oslo, not "${named}"`);
  }
}

/** `2026-11-10 22:27:04Z`, or with the zone's offset, `2026-11-10 23:27:04+01:00`. */
export function writeMoment(at: number, zone: string): string {
  const offset = offsetMinutesAt(at, zone);
  const text = new Date(at + offset * minuteMs).toISOString().slice(0, 19).replace('T', ' ');
  if (offset === 0) return `${text}Z`;
  const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
  return `${text}${offset < 0 ? '-' : '+'}${twoDigits(hours)}:${twoDigits(minutes)}`;
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: minuteMs,
  h: 60 * minuteMs,
  d: dayMs,
  w: 7 * dayMs,
};

/** `45s`, `12m`, `3h`, `2d`: as `--before` reads it, in the largest unit that fits, rounded down. */
export function writeAge(ms: number): string {
  const units = [
    ['d', dayMs],
    ['h', 60 * minuteMs],
    ['m', minuteMs],
  ] as const;
  const [unit, sizeMs] = units.find(([, size]) => ms >= size) ?? ['s', 1_000];
  return `${Math.max(Math.floor(ms / sizeMs), 0)}${unit}`;
}

const written =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?$/i;

/**
 * Reads `now`, `today`, `yesterday`, `2h` (ago), `2026-11-10`, `2026-11-10 22:27` or RFC 3339.
 * @param option named in the error
 * @returns epoch ms
 * @throws UsageError
 */
export function readMoment(text: string, option: string, zone: string, now: number): number {
  if (text === 'now') return now;
  if (text === 'today') return startOfDay(now, zone, 0);
  if (text === 'yesterday') return startOfDay(now, zone, 1);
  const ago = /^-?(\d+)([smhdw])$/.exec(text);
  if (ago !== null) return now - Number(ago[1]) * (unitMs[ago[2] ?? ''] ?? 0);
  const at = writtenMoment(text, zone);
  if (at !== null) return at;
  throw new UsageError(
    `--${option} takes a time such as yesterday, 2h (ago), 2026-11-10 or "2026-11-10 22:27", not "${text}"`,
  );
}

function writtenMoment(text: string, zone: string): number | null {
  const match = written.exec(text);
  if (match === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0));
  const wall = Date.UTC(year, month - 1, day, hour, minute, second);
  // Date.UTC rolls 30 February over into March.
  if (new Date(wall).getUTCMonth() !== month - 1) return null;
  if (hour > 23 || minute > 59 || second > 59) return null;
  const offset = match[7];
  if (offset === undefined) return fromWall(wall, zone);
  return wall - offsetMinutes(offset) * minuteMs;
}

function offsetMinutes(text: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(text) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
}

function startOfDay(now: number, zone: string, daysAgo: number): number {
  const wall = now + offsetMinutesAt(now, zone) * minuteMs;
  return fromWall(wall - (((wall % dayMs) + dayMs) % dayMs) - daysAgo * dayMs, zone);
}

/** From what the clock on the wall shows to epoch ms; an hour that the zone leaves out counts as the one after it. */
function fromWall(wall: number, zone: string): number {
  const guess = wall - offsetMinutesAt(wall, zone) * minuteMs;
  return wall - offsetMinutesAt(guess, zone) * minuteMs;
}

/** Minutes that the zone is ahead of UTC at that time. */
function offsetMinutesAt(at: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  return offsetMinutes(name.replace('GMT', ''));
}
