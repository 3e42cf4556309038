// Joins what is known from many records: the order of records and their repetition never change the result.

/** From the earliest to the latest time something was said, epoch ms. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** The value said last. */
export interface Latest<Value> {
  readonly at: number;
  readonly value: Value;
}

export type Join<Value> = (one: Value, other: Value) => Value;

export const joinSpans: Join<Span> = (one, other) => ({
  first: Math.min(one.first, other.first),
  last: Math.max(one.last, other.last),
});

/** The later value; of two said at the same time the one whose text sorts last, so that all readers agree. */
export function joinLatest<Value>(one: Latest<Value>, other: Latest<Value>): Latest<Value> {
  if (one.at !== other.at) return one.at > other.at ? one : other;
  return JSON.stringify(one.value) >= JSON.stringify(other.value) ? one : other;
}

export type Table<Value> = Readonly<Record<string, Value>>;

/** A table of these entries, with its names sorted, so that equal tables have equal texts. */
export const tableOf = <Value>(entries: Iterable<readonly [string, Value]>): Table<Value> =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));

/** Joins two tables name by name. */
export function joinTables<Value>(one: Table<Value>, other: Table<Value>, join: Join<Value>): Table<Value> {
  const joined = new Map(Object.entries(one));
  for (const [name, value] of Object.entries(other)) {
    const known = joined.get(name);
    joined.set(name, known === undefined ? value : join(known, value));
  }
  return tableOf(joined);
}

/** Whole numbers as sorted stretches `[from, to]` that neither touch nor overlap. */
export type Ranges = readonly (readonly [from: number, to: number])[];

/** All numbers of both. */
export function joinRanges(one: Ranges, other: Ranges): Ranges {
  const joined: [number, number][] = [];
  for (const [from, to] of [...one, ...other].sort(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}
