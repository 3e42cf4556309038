// What values in Bicep can be, and what its own functions make of them.

/** What only Azure knows, by the text that asks for it. */
export class Unknown {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return `<${this.text}>`;
  }
}

export type Value =
  | string
  | number
  | boolean
  | null
  | Unknown
  | readonly Value[]
  | { readonly [name: string]: Value };

/** Thirteen characters, as long as the real ones; which ones, only Azure knows. */
const uniqueText = 'u2345678901ab';

/** Functions of values; what is not here, only Azure can work out. */
export const functions: Readonly<Record<string, (...values: readonly Value[]) => Value>> = {
  any: (value = null) => value,
  base64: (text) => Buffer.from(String(text)).toString('base64'),
  concat: (...values) => values.flat() as Value,
  empty: (value) => value === null || value === '' || (Array.isArray(value) && value.length === 0),
  json: (value) => JSON.parse(String(value)),
  length: (value) => (Array.isArray(value) ? value.length : String(value).length),
  min: (...values) => Math.min(...values.map(Number)),
  max: (...values) => Math.max(...values.map(Number)),
  replace: (text, from, to) => String(text).replaceAll(String(from), String(to)),
  skip: (list, count) =>
    Array.isArray(list) ? list.slice(Number(count)) : String(list).slice(Number(count)),
  split: (text, between) => String(text).split(String(between)),
  string: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  take: (text, count) => String(text).slice(0, Number(count)),
  toLower: (text) => String(text).toLowerCase(),
  union: (...values) => values.reduce(merged),
  uniqueString: () => uniqueText,
};

/** Lists without what is there twice; objects with what both have merged in turn. */
function merged(left: Value, right: Value): Value {
  if (Array.isArray(left) && Array.isArray(right)) return [...new Set([...left, ...right])];
  if (!isObject(left) || !isObject(right)) return right;
  const entries = Object.entries(right).map(([name, value]): [string, Value] => {
    const before = left[name];
    return [name, before === undefined ? value : merged(before, value)];
  });
  return { ...left, ...Object.fromEntries(entries) };
}

const isObject = (value: Value): value is { readonly [name: string]: Value } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Unknown);

export type Each = (value: Value) => Value;

/** Functions that take functions. */
export const listFunctions: Readonly<
  Record<string, (list: readonly Value[], ...each: readonly Each[]) => Value>
> = {
  map: (list, each = (value) => value) => list.map(each),
  toObject: (list, name = (value) => value, each = (value) => value) =>
    Object.fromEntries(list.map((value) => [String(name(value)), each(value)])),
};
