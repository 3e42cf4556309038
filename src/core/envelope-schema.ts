// What the attributes of a record are, as a schema: the same for every type.
import * as z from 'zod';
import { timeSchema } from './event-data-schema.ts';
import type { BridgeRecord } from './record.ts';

/** The attributes; `data` is the business of the type. */
export const envelopeSchema = z.looseObject({
  specversion: z.literal('1.0'),
  id: z
    .string()
    .regex(/^[^.]{1,128}$/)
    .describe('Names the fact: the same for every VM that sees it, and however often it is sent.'),
  source: z
    .string()
    .regex(/^urn:uuid:\S+$/)
    .describe('Names the witness: the VM, by its unique id. `source` and `id` together are unique.'),
  type: z.string().describe('What happened. The version at its end rises with changes that break readers.'),
  subject: z.string().exactOptional().describe('The resource id of the VM, or its name.'),
  time: timeSchema.describe('When the agent saw it.'),
  datacontenttype: z.literal('application/json'),
  dataschema: z.string().describe('The `$id` of the schema of `data`.'),
  correlationid: z.string().min(1).describe('The event, in lower case: the same for all of its records.'),
  partitionkey: z.string().min(1).describe('Records with the same key keep their order.'),
  sequence: z
    .string()
    .regex(/^\d{20}$/)
    .describe('`data.agent.sequence` in 20 digits, so that it sorts as text.'),
  severitytext: z.enum(['INFO', 'WARN', 'ERROR']),
  severitynumber: z
    .union([z.literal(9), z.literal(13), z.literal(17)])
    .describe('As OpenTelemetry numbers it.'),
}) satisfies z.ZodType<Omit<BridgeRecord, 'data'>>;
