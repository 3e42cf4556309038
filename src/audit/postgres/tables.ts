// The projections as PostgreSQL keeps them: columns, their types, and rows from values and back.
import { fromColumnOrNull, toColumnOrNull } from './text.ts';

export type Value = string | number | Uint8Array | null;

/** `text` is any text, in the form that fits a column. */
type ColumnType = 'bytea' | 'integer' | 'bigint' | 'text';

interface Table {
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** What makes a row the same one; an expression of an index. */
  readonly key: string;
  /** What happens to a row that stands already. */
  readonly update: string;
}

/** The rows of one table are written with the values of these columns, in this order, which is that of SQLite's tables. */
export const tables = {
  observation: {
    columns: {
      ...{ record_key: 'bytea', body_key: 'bytea', stream: 'integer', idx: 'bigint', repeats: 'bigint' },
      ...{ id: 'text', source: 'text', type: 'text', at_ms: 'bigint' },
      ...{ agent_id: 'text', agent_seq: 'bigint', event_id: 'text' },
    },
    key: 'record_key, body_key',
    update: 'stream = excluded.stream, idx = excluded.idx, repeats = excluded.repeats',
  },
  conflict: {
    columns: { record_key: 'bytea', source: 'text', id: 'text', variants: 'bigint' },
    key: 'record_key',
    update: 'variants = excluded.variants',
  },
  parked: {
    columns: { stream: 'integer', idx: 'bigint', reason: 'text' },
    key: 'stream, idx',
    update: 'reason = excluded.reason',
  },
  event: {
    columns: {
      ...{ event_id: 'text', type: 'text', status: 'text', outcome: 'text' },
      ...{ first_ms: 'bigint', last_ms: 'bigint', state: 'text' },
    },
    key: 'seb.key(event_id)',
    update: `type = excluded.type, status = excluded.status, outcome = excluded.outcome,
      first_ms = excluded.first_ms, last_ms = excluded.last_ms, state = excluded.state`,
  },
  event_vm: {
    columns: { vm_key: 'text', event_id: 'text', vm_name: 'text' },
    key: 'seb.key(vm_key), seb.key(event_id)',
    update: 'vm_name = least(event_vm.vm_name, excluded.vm_name)',
  },
  event_observer: {
    columns: {
      ...{ event_id: 'text', agent_id: 'text', phases: 'integer', affected: 'integer' },
      ...{ first_ms: 'bigint', last_ms: 'bigint' },
    },
    key: 'seb.key(event_id), seb.key(agent_id)',
    update: `phases = excluded.phases, affected = excluded.affected,
      first_ms = excluded.first_ms, last_ms = excluded.last_ms`,
  },
  deed: {
    columns: { event_id: 'text', agent_id: 'text', what: 'text', at_ms: 'bigint', state: 'text' },
    key: 'seb.key(event_id), seb.key(agent_id), seb.key(what)',
    update: 'at_ms = excluded.at_ms, state = excluded.state',
  },
  agent: {
    columns: {
      ...{ agent_id: 'text', vm_id: 'text', vm_name: 'text', resource_id: 'text' },
      ...{ last_ms: 'bigint', state: 'text', first_ms: 'bigint' },
    },
    key: 'seb.key(agent_id)',
    update: `vm_id = excluded.vm_id, vm_name = excluded.vm_name, resource_id = excluded.resource_id,
      last_ms = excluded.last_ms, state = excluded.state, first_ms = excluded.first_ms`,
  },
} as const satisfies Readonly<Record<string, Table>>;

export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as readonly TableName[];

const columnsOf = (name: TableName): readonly (readonly [string, ColumnType])[] =>
  Object.entries(tables[name].columns);

/** The statement that writes rows, one array for each column. */
export function putStatement(name: TableName): string {
  const columns = columnsOf(name);
  const { key, update } = tables[name];
  const arrays = columns.map(([, type], place) => `$${place + 1}::${type}[]`);
  const names = columns.map(([column]) => column).join(', ');
  return `INSERT INTO seb.${name} (${names}) SELECT * FROM unnest(${arrays.join(', ')})
    ON CONFLICT (${key}) DO UPDATE SET ${update}`;
}

/** The values of `putStatement`. @param rows each in the order of the columns */
export function putValues(name: TableName, rows: readonly (readonly Value[])[]): unknown[][] {
  return columnsOf(name).map(([, type], place) =>
    rows.map((row) => {
      const value = row[place] ?? null;
      return type === 'text' && typeof value === 'string' ? toColumnOrNull(value) : value;
    }),
  );
}

/** A row as it was before it was put. */
export function rowValues(name: TableName, row: Readonly<Record<string, unknown>>): Value[] {
  return columnsOf(name).map(([column, type]) =>
    type === 'text' ? fromColumnOrNull(row[column]) : (row[column] as Value),
  );
}
