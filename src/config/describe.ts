// Lists every setting of a configuration file, from the same schema that validates it.
import { kindsOf, type SettingSchema } from './json-schema.ts';

export interface SettingRow {
  /** The path of the setting; `<name>` stands for a name of the user's choice, `[]` for each item of a list. */
  readonly key: string;
  readonly type: string;
  /** As a person would write it; undefined when there is none. */
  readonly default?: string;
  readonly description: string;
  readonly required: boolean;
  readonly secret: boolean;
}

/** One table of settings: the file itself, then one for each kind of what comes in kinds. */
export interface SettingsTable {
  readonly title: string;
  readonly description: string;
  readonly rows: readonly SettingRow[];
}

/**
 * @param title what to call the first table
 * @returns the settings of the file, then those of every kind of sink and the like
 */
export function describe(title: string, schema: SettingSchema): SettingsTable[] {
  const nested: SettingsTable[] = [];
  const rows = rowsBelow(schema, '', nested);
  return [{ title: `\`${title}\``, description: schema.description ?? '', rows }, ...nested];
}

function rowsBelow(schema: SettingSchema, path: string, nested: SettingsTable[]): SettingRow[] {
  const { properties = {}, required = [], additionalProperties } = schema;
  const rows = typeFirst(Object.entries(properties)).flatMap(([key, child]) =>
    rowsOf(child, path === '' ? key : `${path}.${key}`, required.includes(key), nested),
  );
  if (!additionalProperties || isPlain(additionalProperties)) return rows;
  return [...rows, ...rowsOf(additionalProperties, `${path}.<name>`, false, nested)];
}

function rowsOf(
  schema: SettingSchema,
  key: string,
  required: boolean,
  nested: SettingsTable[],
): SettingRow[] {
  const kinds = schema.secret === true ? new Map<string, SettingSchema>() : kindsOf(schema);
  for (const [kind, child] of kinds) {
    const title = `\`${key}\`, type: \`${kind}\``;
    nested.push({ title, description: kindDescription(child), rows: rowsBelow(child, key, nested) });
  }
  const row = { key, type: typeOf(schema), ...defaultOf(schema), required, secret: schema.secret === true };
  const below = schema.secret === true || kinds.size > 0 ? [] : rowsBelow(schema, key, nested);
  return [{ ...row, description: schema.description ?? '' }, ...below, ...itemRows(schema, key, nested)];
}

/** The settings of each item of a list, as `anchors[].type`. */
function itemRows({ items }: SettingSchema, key: string, nested: SettingsTable[]): SettingRow[] {
  if (items === undefined || isPlain(items)) return [];
  return rowsBelow(items, `${key}[]`, nested);
}

const typeFirst = <Entry extends readonly [string, unknown]>(entries: readonly Entry[]): Entry[] =>
  entries.toSorted(([a], [b]) => Number(b === 'type') - Number(a === 'type'));

const kindDescription = (kind: SettingSchema): string =>
  kind.description ?? kind.properties?.['type']?.description ?? '';

/** A map whose values are single values needs no row of its own for them. */
const isPlain = (schema: SettingSchema): boolean =>
  schema.secret === true || (schema.properties === undefined && kindsOf(schema).size === 0);

function typeOf(schema: SettingSchema): string {
  const kinds = [...kindsOf(schema).keys()];
  if (schema.secret === true) return 'secret';
  if (kinds.length > 0) return `one of the types ${kinds.join(', ')}`;
  if (schema.const !== undefined) return `always \`${String(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.quantity !== undefined) return `${schema.quantity}, ${schema.from} to ${schema.to}`;
  if (schema.type === 'array') return `list of ${severalOf(schema.items ?? {})}`;
  if (schema.type === 'object') {
    return schema.additionalProperties ? `names with ${severalOf(schema.additionalProperties)}` : 'settings';
  }
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return choices.map(typeOf).join(' or ');
  return `${schema.format === 'uri' ? 'URL' : (schema.type ?? 'any')}${boundsOf(schema)}`;
}

function severalOf(schema: SettingSchema): string {
  if (schema.secret === true) return 'secrets';
  if (kindsOf(schema).size > 0 || schema.properties !== undefined) return 'settings';
  return typeOf(schema);
}

function boundsOf({ minimum, maximum }: SettingSchema): string {
  // zod gives every integer the bounds of a safe integer: they say nothing.
  const from = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? `, from ${minimum}` : '';
  const to = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `, to ${maximum}` : '';
  return `${from}${to}`;
}

function defaultOf({ default: value }: SettingSchema): { default?: string } {
  if (value === undefined) return {};
  const empty = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return empty ? {} : { default: typeof value === 'string' ? value : JSON.stringify(value) };
}

/** The tables as Markdown. */
export function settingsMarkdown(tables: readonly SettingsTable[]): string {
  return tables.map(tableMarkdown).join('\n');
}

function tableMarkdown({ title, description, rows }: SettingsTable): string {
  const lines = rows.map((row) => `| ${cellsOf(row).map(escapeCell).join(' | ')} |`);
  const head = ['| Setting | Value | Default | What it does |', '| --- | --- | --- | --- |'];
  const intro = description === '' ? [] : [description, ''];
  return [`## ${title}`, '', ...intro, ...head, ...lines, ''].join('\n');
}

function cellsOf(row: SettingRow): string[] {
  const otherwise = row.required ? 'required' : '';
  const usual = row.default === undefined ? otherwise : `\`${row.default}\``;
  return [`\`${row.key}\``, row.type, usual, row.description];
}

const escapeCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
