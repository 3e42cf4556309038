// Makes the schema of the relay's trigger from that of records, in the few words that Azure Logic Apps is sure to know.
import { type JsonSchema, recordSchemas } from '../../src/core/record-schema.ts';
import { eventTypes, testType } from './record-types.ts';

// The documentation of the Request trigger promises no more than examples of this kind, and its designer makes fields
// of `type`, `properties` and `items` alone. `format` and `pattern` are left out on purpose: what the service made of
// them cannot be tried from here, and a record that it refused would be lost to its readers.
const kept = ['type', 'enum', 'required', 'minLength', 'minimum', 'description'] as const;

/** The schema: accepts every record, and of event records those alone that have what an event record must have. */
export function triggerSchema(): JsonSchema {
  const envelope = plain(schemaOf('record.v1.schema.json'));
  const event = plain(schemaOf('event.v1.schema.json'));
  const { required, ...data } = event;
  const properties = {
    ...child(envelope, 'properties'),
    data: { ...data, properties: dataProperties(data) },
  };
  return {
    type: 'object',
    properties,
    required: envelope['required'],
    // Types of later versions pass: the workflow answers that it has no use for them.
    anyOf: [
      { properties: { type: { enum: eventTypes() }, data: { type: 'object', required } } },
      { properties: { type: { not: { enum: eventTypes() } } } },
    ],
  };
}

/** The fields of events, and the one that a test record has for itself. */
const dataProperties = (data: JsonSchema): JsonSchema => ({
  ...child(data, 'properties'),
  sink: { type: 'string', description: `The sink that was tried: in records of type ${testType}.` },
});

/** The same schema without references, alternatives and formats. */
function plain(schema: JsonSchema): JsonSchema {
  const { anyOf, const: constant, properties, items } = schema;
  if (Array.isArray(anyOf)) return { ...merged(anyOf), ...described(schema) };
  return {
    ...Object.fromEntries(kept.filter((word) => word in schema).map((word) => [word, schema[word]])),
    ...(constant === undefined ? {} : { enum: [constant] }),
    ...(isSchema(properties) ? { properties: mapped(properties) } : {}),
    ...(isSchema(items) ? { items: plain(items) } : {}),
  };
}

const described = ({ description }: JsonSchema): JsonSchema =>
  description === undefined ? {} : { description };

/** Alternatives that differ in type or in their one value, as a single schema. */
function merged(schemas: readonly JsonSchema[]): JsonSchema {
  const all = schemas.map(plain);
  const types = [...new Set(all.map(({ type }) => type))];
  const values = all.flatMap((schema) => (Array.isArray(schema['enum']) ? schema['enum'] : []));
  return {
    ...Object.assign({}, ...all),
    type: types.length === 1 ? types[0] : types,
    ...(values.length === 0 ? {} : { enum: values }),
  };
}

const mapped = (properties: JsonSchema): JsonSchema =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, isSchema(schema) ? plain(schema) : {}]),
  );

const isSchema = (value: unknown): value is JsonSchema => typeof value === 'object' && value !== null;

const child = (schema: JsonSchema, name: string): JsonSchema => {
  const value = schema[name];
  return isSchema(value) ? value : {};
};

const schemaOf = (file: string): JsonSchema => recordSchemas()[file] ?? {};
