// The JSON Schemas (2020-12) that are published for receivers: of whole records, and of the `data` of each family.
import * as z from 'zod';
import { agentDataSchemas } from './agent-data-schema.ts';
import { approvalDataSchema, hookDataSchema, impactDataSchema } from './deed-data-schema.ts';
import { envelopeSchema } from './envelope-schema.ts';
import { eventDataSchema } from './event-data-schema.ts';
import { fleetDataSchemas } from './fleet-data-schema.ts';

/** A JSON Schema. */
export type JsonSchema = Readonly<Record<string, unknown>>;

const draft = 'https://json-schema.org/draft/2020-12/schema';
const typePrefix = 'io.github.scheduled-events-bridge';
const idOf = (name: string): string => `urn:scheduled-events-bridge:${name}:v1`;

/** A family of records: what `data` of its types is. */
interface Family {
  readonly schema: JsonSchema;
  /** What each of its types says about the rest of the record. */
  readonly kinds: readonly JsonSchema[];
}

/** The schemas, by the name of their file in docs/schema. */
export function recordSchemas(): Readonly<Record<string, JsonSchema>> {
  const families = familiesOfRecords();
  const files = Object.entries(families).map(([name, { schema }]) => [`${name}.v1.schema.json`, schema]);
  return { ...Object.fromEntries(files), 'record.v1.schema.json': recordSchema(families) };
}

// A new family of records is one line here.
const familiesOfRecords = (): Readonly<Record<string, Family>> => ({
  agent: severalFamily('agent', agentDataSchemas, 'What an agent says about itself.'),
  event: eventFamily(),
  approval: deedFamily('approval', approvalDataSchema, 'Whether an agent let an event start, and why.'),
  hook: deedFamily('hook', hookDataSchema, 'A program that prepares a VM for an event, or brings it back.'),
  impact: deedFamily('impact', impactDataSchema, 'What one VM felt of an event, as its agent measured it.'),
  fleet: severalFamily('fleet', fleetDataSchemas, 'What a consumer itself says of the whole fleet.'),
});

function eventFamily(): Family {
  const description = 'One change of one scheduled event, as one VM saw it.';
  const kindOf = (transition: string): JsonSchema =>
    kind('event', `event.${transition}`, {
      $ref: idOf('event'),
      type: 'object',
      properties: { transition: { const: transition } },
    });
  return {
    schema: dataSchema('event', description, bodyOf(eventDataSchema)),
    kinds: eventDataSchema.shape.transition.options.map(kindOf),
  };
}

/** The one type of such a family is called as the family is. */
const deedFamily = (name: string, data: z.ZodType, description: string): Family => ({
  schema: dataSchema(name, description, bodyOf(data)),
  kinds: [kind(name, name, { $ref: idOf(name) })],
});

/** Each of its types has another `data`. */
function severalFamily(
  name: string,
  types: Readonly<Record<string, z.ZodType>>,
  description: string,
): Family {
  const names = Object.keys(types);
  return {
    schema: dataSchema(name, description, {
      anyOf: names.map((what) => ({ $ref: `#/$defs/${what}` })),
      $defs: Object.fromEntries(Object.entries(types).map(([what, data]) => [what, bodyOf(data)])),
    }),
    kinds: names.map((what) => kind(name, `${name}.${what}`, { $ref: `${idOf(name)}#/$defs/${what}` })),
  };
}

const dataSchema = (name: string, description: string, body: JsonSchema): JsonSchema => ({
  $schema: draft,
  $id: idOf(name),
  title: `Data of ${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name} record`,
  description: `${description} Readers must ignore what they do not know.`,
  ...body,
});

/** A record as a whole. The schemas of `data` are bundled, so that nothing else has to be fetched. */
const recordSchema = (families: Readonly<Record<string, Family>>): JsonSchema => ({
  $schema: draft,
  $id: idOf('record'),
  title: 'Record of Scheduled Events Bridge',
  description: 'A CloudEvent 1.0 in JSON. Readers must ignore attributes that they do not know.',
  ...withData(bodyOf(envelopeSchema)),
  oneOf: Object.values(families).flatMap(({ kinds }) => kinds),
  $defs: Object.fromEntries(Object.entries(families).map(([name, { schema }]) => [name, schema])),
});

/** @param type without what all types begin with, and without the version */
const kind = (family: string, type: string, data: JsonSchema): JsonSchema => ({
  title: type,
  type: 'object',
  properties: {
    type: { const: `${typePrefix}.${type}.v1` },
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
