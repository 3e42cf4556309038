// The JSON Schemas (2020-12) that are published for receivers: of whole records, and of the `data` of each family.
import * as z from 'zod';
import { agentDataSchemas } from './agent-data-schema.ts';
import { eventDataSchema, timeSchema } from './event-data-schema.ts';
import type { BridgeRecord } from './record.ts';

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const draft = 'https://json-schema.org/draft/2020-12/schema';
const typePrefix = 'io.github.scheduled-events-bridge';
const idOf = (name: string): string => `urn:scheduled-events-bridge:${name}:v1`;

/** The attributes; `data` is the business of the type. */
const envelope = z.looseObject({
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

/** The schemas, by the name of their file in docs/schema. */
export function recordSchemas(): Readonly<Record<string, JsonSchema>> {
  const [event, agent] = [eventSchema(), agentSchema()];
  return {
    'agent.v1.schema.json': agent,
    'event.v1.schema.json': event,
    'record.v1.schema.json': recordSchema({ agent, event }),
  };
}

const eventSchema = (): JsonSchema => ({
  $schema: draft,
  $id: idOf('event'),
  title: 'Data of an event record',
  description:
    'One change of one scheduled event, as one VM saw it. Readers must ignore what they do not know.',
  ...bodyOf(eventDataSchema),
});

const agentSchema = (): JsonSchema => ({
  $schema: draft,
  $id: idOf('agent'),
  title: 'Data of an agent record',
  description: 'What an agent says about itself. Readers must ignore what they do not know.',
  anyOf: Object.keys(agentDataSchemas).map((name) => ({ $ref: `#/$defs/${name}` })),
  $defs: Object.fromEntries(Object.entries(agentDataSchemas).map(([name, data]) => [name, bodyOf(data)])),
});

/** A record as a whole. The schemas of `data` are bundled, so that nothing else has to be fetched. */
const recordSchema = (families: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  $schema: draft,
  $id: idOf('record'),
  title: 'Record of Scheduled Events Bridge',
  description: 'A CloudEvent 1.0 in JSON. Readers must ignore attributes that they do not know.',
  ...withData(bodyOf(envelope)),
  oneOf: [
    ...eventDataSchema.shape.transition.options.map(eventKind),
    ...Object.keys(agentDataSchemas).map(agentKind),
  ],
  $defs: families,
});

/** What a type of event record says about the rest of the record. */
const eventKind = (transition: string): JsonSchema =>
  kind('event', transition, {
    $ref: idOf('event'),
    type: 'object',
    properties: { transition: { const: transition } },
  });

const agentKind = (what: string): JsonSchema =>
  kind('agent', what, { $ref: `${idOf('agent')}#/$defs/${what}` });

const kind = (family: string, what: string, data: JsonSchema): JsonSchema => ({
  title: `${family}.${what}`,
  type: 'object',
  properties: {
    type: { const: `${typePrefix}.${family}.${what}.v1` },
    dataschema: { const: idOf(family) },
    data,
  },
});

function withData(schema: JsonSchema): JsonSchema {
  const { properties, required } = schema as { properties: JsonSchema; required: readonly string[] };
  return {
    ...schema,
    properties: { ...properties, data: { type: 'object', description: 'What the type is about.' } },
    required: [...required, 'data'],
  };
}

/** The schema without what only a whole document has. */
function bodyOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...body } = z.toJSONSchema(schema);
  return body;
}
