// The types of the records that the relay knows, as the published schema names them.
import { recordSchemas } from '../../src/core/record-schema.ts';

interface Kind {
  readonly title: string;
  readonly properties: { readonly type: { readonly const: string } };
}

const kinds = recordSchemas()['record.v1.schema.json']?.['oneOf'] as readonly Kind[];

const typeOf = ({ properties }: Kind): string => properties.type.const;

/** The type of the record that `seb sink test` sends. */
export const testType = typeOf(kindOf('agent.test'));

/** The types of event records. */
export const eventTypes = (): readonly string[] =>
  kinds.filter(({ title }) => title.startsWith('event.')).map(typeOf);

/** What the relay calls each type that it has a card for, such as `scheduled` or `test`. */
export const kindByType = (): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    kinds
      .filter(({ title }) => title.startsWith('event.'))
      .map((kind) => [typeOf(kind), kind.title.replace('event.', '')]),
  ),
  [testType]: 'test',
});

function kindOf(title: string): Kind {
  const kind = kinds.find((one) => one.title === title);
  if (kind === undefined) throw new Error(`the schema has no kind ${title}`);
  return kind;
}
