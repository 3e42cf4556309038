// Faults as people write them on a command line: `drop-after-store,times=3,partition=0`.
import * as z from 'zod';
import { span } from '../imds/span.ts';
import { type Fault, type FaultName, faultPoints } from './faults.ts';

const names = Object.keys(faultPoints) as FaultName[];
const times = z.union([z.int().min(1), z.literal('always')], 'Expected a whole number, or always');

const settings = z.strictObject({
  fault: z.enum(names, `Expected one of ${names.join(', ')}`),
  times: times.default(1),
  hub: z.string().min(1).optional(),
  partition: z.coerce.string().optional(),
  probability: z.number('Expected a number from 0 to 1').min(0).max(1).default(1),
  delay: span.default(1_000),
  after: span.default(0),
});

/** A fault, and when it begins, in ms from the start of the emulator. */
export interface TimedFault {
  readonly fault: Fault;
  readonly afterMs: number;
}

const numberOr = (text: string): string | number => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);

function parse(text: string) {
  const [fault = '', ...pairs] = text.split(',');
  const entries = pairs.map((pair) => {
    const [key = '', ...value] = pair.split('=');
    return [key.trim(), numberOr(value.join('=').trim())];
  });
  return settings.safeParse({ ...Object.fromEntries(entries), fault: fault.trim() });
}

/**
 * Reads `NAME[,key=value...]`, such as `slow,delay=2s,times=always,probability=0.1,after=1m`.
 * @returns the fault, or one sentence about what is wrong
 */
export function readFaultSpec(text: string): TimedFault | { readonly problem: string } {
  const parsed = parse(text);
  if (!parsed.success) return { problem: parsed.error.issues.map(problemOf).join('; ') };
  const { fault: name, times: count, hub, partition, probability, delay, after } = parsed.data;
  const fault: Fault = {
    name,
    times: count === 'always' ? Number.POSITIVE_INFINITY : count,
    probability,
    delayMs: delay,
    ...(hub === undefined ? {} : { hub }),
    ...(partition === undefined ? {} : { partition }),
  };
  return { fault, afterMs: after };
}

function problemOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return `there is no key ${issue.keys.join(', ')}`;
  return `${issue.path.join('.')}: ${issue.message}`;
}
