// Spans of time as scenarios and faults write them: `500ms`, `30s`, `15m`, `24h`, `7d`.
import * as z from 'zod';

const msOf: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const pattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const advice = 'Expected a span of time such as 500ms, 30s, 15m, 24h or 7d';

/** Gives milliseconds; a bare 0 needs no unit. At most 30 days. */
export const span = z
  .union([z.literal(0), z.string().regex(pattern, advice)], advice)
  .transform(toMs)
  .refine((ms) => ms <= 30 * 86_400_000, 'A span of time is at most 30d');

function toMs(text: string | 0): number {
  const [, amount = '0', unit = 'ms'] = pattern.exec(String(text)) ?? [];
  return Math.round(Number(amount) * (msOf[unit] ?? 0));
}
