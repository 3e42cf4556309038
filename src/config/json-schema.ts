// The JSON Schema of a configuration file: what editors check against, and what docs and help are made from.
import * as z from 'zod';

/** The part of JSON Schema that our settings use, with the marks they carry. */
export interface SettingSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: SettingSchema;
  readonly properties?: Readonly<Record<string, SettingSchema>>;
  readonly required?: readonly string[];
  /** The schema of every value when the keys are the user's own; `false` when no other key may stand. */
  readonly additionalProperties?: SettingSchema | false;
  readonly oneOf?: readonly SettingSchema[];
  readonly anyOf?: readonly SettingSchema[];
  /** Our mark: the value must never be shown. */
  readonly secret?: boolean;
  /** Our marks: a text such as `5m` or `64KiB`, and the bounds of what it says. */
  readonly quantity?: string;
  readonly from?: string;
  readonly to?: string;
}

/** The JSON Schema of what a person may write, before defaults and units are applied. */
export function jsonSchemaOf(settings: z.ZodType): SettingSchema {
  return z.toJSONSchema(settings, { io: 'input' }) as SettingSchema;
}

/** The kinds of a setting that is one of several, told apart by `type`: such as the kinds of sinks. */
export function kindsOf(schema: SettingSchema): ReadonlyMap<string, SettingSchema> {
  const kinds = (schema.oneOf ?? schema.anyOf ?? []).map(
    (kind) => [kind.properties?.['type']?.const, kind] as const,
  );
  return new Map(kinds.filter((entry): entry is [string, SettingSchema] => typeof entry[0] === 'string'));
}
