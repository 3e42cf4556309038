// Faults as people write them: a step of a scenario, or `--fault 429,retryAfter=5,times=3`.
import * as z from 'zod';
import { type FaultScope, faultPaths, type ImdsFault } from './fault.ts';
import { span } from './span.ts';

const words = [
  'warming',
  'slow',
  'empty',
  'hang',
  'mute',
  'lost',
  'reset',
  'truncated',
  'cut',
  'incarnation-reset',
  'instance-down',
] as const;
const advice = `Expected one of ${words.join(', ')}, or a status from 400 to 599`;
const status = z.int(advice).min(400, advice).max(599, advice);

/** The settings of one fault; every one but `fault` may be left out. */
export const faultSettings = z.strictObject({
  fault: z.union([z.enum(words), status], advice),
  /** For `warming` and `slow`. */
  delay: span.optional(),
  /** For a status: seconds, or an HTTP date as it shall stand in the header. */
  retryAfter: z
    .union([z.int().min(0), z.string().min(1)])
    .transform(String)
    .optional(),
  times: z.int().min(1).optional(),
  for: span.optional(),
  vm: z.string().min(1).optional(),
  path: z.enum(faultPaths, `Expected one of ${faultPaths.join(', ')}`).optional(),
});

export type FaultSettings = z.output<typeof faultSettings>;

const warmingMs = 120_000;
const slowMs = 5_000;

/** What the settings mean. */
export function faultFrom({ fault, ...rest }: FaultSettings): { fault: ImdsFault; scope: FaultScope } {
  const { delay, retryAfter, times, for: forMs, vm, path } = rest;
  const down = fault === 'instance-down';
  const scope = {
    ...(times === undefined ? {} : { times }),
    ...(forMs === undefined ? {} : { forMs }),
    // Instance metadata is asked for rarely: it stays down until told otherwise.
    ...(down && times === undefined && forMs === undefined ? { forMs: Number.POSITIVE_INFINITY } : {}),
    ...(vm === undefined ? {} : { vm }),
    ...(path === undefined ? (down ? { path: 'instance' as const } : {}) : { path }),
  };
  const retry = retryAfter === undefined ? {} : { retryAfter };
  if (down) return { fault: { kind: 'status', status: 500, ...retry }, scope };
  if (typeof fault === 'number') return { fault: { kind: 'status', status: fault, ...retry }, scope };
  if (fault === 'warming') return { fault: { kind: fault, delayMs: delay ?? warmingMs }, scope };
  if (fault === 'slow') return { fault: { kind: fault, delayMs: delay ?? slowMs }, scope };
  return { fault: { kind: fault }, scope };
}

/** A fault on a command line, and when it begins, in ms of wall time. */
export interface TimedFault {
  readonly fault: ImdsFault;
  readonly scope: FaultScope;
  readonly afterMs: number;
}

const commandLineSettings = faultSettings.extend({ after: span.default(0) });

/**
 * Reads `KIND[,key=value...]`, such as `429,retryAfter=5,times=3` or `empty,for=30s,after=1m`.
 * @returns the fault, or one sentence about what is wrong
 */
export function readFaultSpec(text: string): TimedFault | { readonly problem: string } {
  const [fault = '', ...pairs] = text.split(',');
  const entries = pairs.map((pair) => {
    const [key = '', ...value] = pair.split('=');
    return [key.trim(), numberOr(value.join('=').trim())];
  });
  const parsed = commandLineSettings.safeParse({ ...Object.fromEntries(entries), fault: numberOr(fault) });
  if (parsed.success) {
    const { after, ...settings } = parsed.data;
    return { ...faultFrom(settings), afterMs: after };
  }
  return { problem: parsed.error.issues.map(problemOf).join('; ') };
}

function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `there is no key ${issue.keys.join(', ')}`;
  return `${issue.path.join('.')}: ${issue.message}`;
}

const numberOr = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text);
