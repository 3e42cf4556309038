// Durations and sizes as people write them: `500ms`, `1s`, `7d`; `64KiB`, `100MiB`.
import * as z from 'zod';

const msOf = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const bytesOf = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

interface Bounds {
  readonly default: string;
  readonly min: string;
  readonly max: string;
}

/** A setting that reads `5m` and gives milliseconds. */
export const duration = (bounds: Bounds) =>
  quantity(bounds, msOf, 'duration', '500ms, 1s, 5m, 24h, 7d').prefault(bounds.default);

/** The same for a setting that need not be given, and then is nothing. */
export const optionalDuration = (bounds: Omit<Bounds, 'default'>) =>
  quantity(bounds, msOf, 'duration', '500ms, 1s, 5m, 24h, 7d').exactOptional();

/** A setting that reads `100MiB` and gives bytes. */
export const size = (bounds: Bounds) =>
  quantity(bounds, bytesOf, 'size', '64KiB, 100MiB').prefault(bounds.default);

type Limits = Omit<Bounds, 'default'>;

function quantity(bounds: Limits, units: Readonly<Record<string, number>>, word: string, examples: string) {
  const pattern = new RegExp(`^(\\d+(?:\\.\\d+)?)(${Object.keys(units).join('|')})$`);
  const parse = (text: string): number => {
    const match = pattern.exec(text);
    return match === null ? Number.NaN : Math.round(Number(match[1]) * (units[match[2] ?? ''] ?? Number.NaN));
  };
  const [min, max] = [parse(bounds.min), parse(bounds.max)];
  return z
    .string(`Expected a ${word} such as ${examples}`)
    .regex(pattern, `Expected a ${word} such as ${examples}`)
    .meta({ quantity: word, from: bounds.min, to: bounds.max })
    .transform(parse)
    .refine((value) => !(value < min) && !(value > max), `Must be between ${bounds.min} and ${bounds.max}`);
}
