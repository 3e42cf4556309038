// What a configuration file comes to: its own words, completed with the defaults, without its secrets.
import { kindsOf, type SettingSchema } from './json-schema.ts';

const hidden = '***';

/**
 * Completes what a person wrote, in the units a person writes.
 * @param written the file's content, already found valid
 * @returns the same shape with every default in it; of a secret only the place where it stands
 */
export function effectiveSettings(schema: SettingSchema, written: unknown): unknown {
  const value = written === undefined ? schema.default : written;
  if (schema.secret === true) return secretPlace(value);
  const kind = kindsOf(schema).get(typeOf(value));
  if (kind !== undefined) return effectiveSettings(kind, value);
  if (Array.isArray(value)) return value.map((item) => effectiveSettings(schema.items ?? {}, item));
  if (typeof value !== 'object' || value === null) return value;
  return completed(schema, value as Readonly<Record<string, unknown>>);
}

function completed(schema: SettingSchema, value: Readonly<Record<string, unknown>>): unknown {
  const properties = schema.properties ?? {};
  const keys = new Set([...Object.keys(value), ...Object.keys(properties)]);
  // The schema passes over this one name, so that nobody has judged what stands there.
  keys.delete('__proto__');
  const entries = [...keys].map((key) => {
    // A plain look-up would find a `constructor` in every object, and no mark of a secret there.
    const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return [key, effectiveSettings(own ?? (schema.additionalProperties || {}), value[key])] as const;
  });
  return Object.fromEntries(entries.filter(([, child]) => child !== undefined));
}

const typeOf = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'type' in value ? String(value.type) : '';

/** `{ file: PATH }`, `{ credential: NAME }` and `{ env: NAME }` are places and may be seen. */
const secretPlace = (value: unknown): unknown => (typeof value === 'string' ? hidden : value);
