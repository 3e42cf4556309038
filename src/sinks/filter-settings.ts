// The `filter` setting that every sink has, with the defaults of its kind.
import * as z from 'zod';
import type { RecordFilter } from '../core/filter.ts';

/**
 * The schema of `filter`.
 * @param defaults what this kind of sink takes when nothing is said
 */
export const filterSettings = (defaults: RecordFilter) =>
  z
    .strictObject({
      observer: z
        .enum(['all', 'affected', 'first', 'sampled'])
        .default(defaults.observer)
        .describe(
          'Which of the VMs that see an event speak: `all`; `affected`, those it names; `first`, the first it names; `sampled`, those it names and a few witnesses.',
        ),
      sample: z
        .number()
        .min(0)
        .max(1)
        .default(defaults.sample)
        .describe('Share of the unaffected witnesses that speak under `observer: sampled`.'),
      types: z
        .array(z.string().min(1))
        .min(1)
        .exactOptional()
        .describe('Only events of these types, such as `Reboot`, and deeds about them; any case.'),
      transitions: z
        .array(z.enum(['scheduled', 'updated', 'started', 'completed', 'canceled']))
        .min(1)
        .exactOptional()
        .describe('Only these transitions.'),
      minSeverity: z
        .enum(['INFO', 'WARN', 'ERROR'])
        .exactOptional()
        .describe(
          'Only records at least this severe. That an event is over is `INFO`: to hear both of its beginning and its end, choose by `types`.',
        ),
      records: z
        .array(z.enum(['event', 'agent', 'approval', 'hook', 'impact', 'fleet']))
        .min(1)
        .default([...defaults.records])
        .describe(
          'Only these families of records; `fleet` is what a consumer itself says of the whole fleet.',
        ),
    })
    .prefault({})
    .describe('Which records the sink takes.');
