// Prints rows: a table for people, tab-separated text for scripts, JSON and CSV for programs.
import { styleText } from 'node:util';
import { type CommandContext, type CommandOptions, textOption, UsageError } from './command.ts';
import { jsonText } from './json-text.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

export type Tone = 'green' | 'yellow' | 'red' | 'dim';

/** One column, and what stands in it for programs and for people. */
export interface Column<Row> {
  /** The key in JSON and the heading in CSV, such as `eventId`. */
  readonly name: string;
  /** The heading on a terminal; the name in capitals unless given. */
  readonly heading?: string;
  readonly value: (row: Row) => JsonValue;
  /** For people; the value as text unless given. */
  readonly text?: (row: Row) => string;
  readonly tone?: (row: Row) => Tone | undefined;
  readonly align?: 'left' | 'right';
  /** Gives way when the terminal is too narrow: with an ellipsis, or in more lines, of which nothing is lost. */
  readonly elastic?: boolean | 'in-lines';
  /** Stands in JSON and CSV only. */
  readonly hidden?: boolean;
}

const formats = ['table', 'tsv', 'json', 'jsonl', 'csv'] as const;
export type OutputFormat = (typeof formats)[number];

/** The option that every command which prints rows takes. */
export const outputOptions: CommandOptions = {
  output: {
    type: 'string',
    short: 'o',
    value: 'FORMAT',
    description: `One of ${formats.join(', ')}; table on a terminal and tsv in a pipe unless given.`,
  },
};

/**
 * The format asked for, or the one that suits where the output goes.
 * @throws UsageError
 */
export function outputFormat(context: CommandContext): OutputFormat {
  const asked = textOption(context, 'output');
  if (asked === undefined) return context.stdout.isTTY === true ? 'table' : 'tsv';
  const format = formats.find((name) => name === asked);
  if (format === undefined) throw new UsageError(`--output takes ${formats.join(', ')}, not "${asked}"`);
  return format;
}

/**
 * Prints rows on standard output, and is done when the last byte was taken.
 * @param nothing what to say on standard error when there is no row and a person looks
 * @throws UsageError when `--output` names no format
 */
export async function printRows<Row>(
  context: CommandContext,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  nothing = 'nothing found',
): Promise<void> {
  const format = outputFormat(context);
  if (format === 'table' && rows.length === 0) {
    context.stderr.write(`${nothing}\n`);
    return;
  }
  const text = render[format](columns, rows, context.stdout);
  if (text === '') return;
  await new Promise<void>((resolve) => context.stdout.write(text, () => resolve()));
}

type Output = CommandContext['stdout'];
type Renderer = <Row>(columns: readonly Column<Row>[], rows: readonly Row[], output: Output) => string;

const render: Readonly<Record<OutputFormat, Renderer>> = {
  table: (columns, rows, output) => tableOf(visible(columns), rows, output),
  tsv: (columns, rows) =>
    linesOf(
      rows.map((row) =>
        visible(columns)
          .map((column) => cellText(column, row))
          .join('\t'),
      ),
    ),
  json: (columns, rows) =>
    `${jsonText(
      rows.map((row) => objectOf(columns, row)),
      2,
    )}\n`,
  jsonl: (columns, rows) => linesOf(rows.map((row) => jsonText(objectOf(columns, row)))),
  csv: (columns, rows) =>
    [columns.map(({ name }) => name), ...rows.map((row) => columns.map(({ value }) => plain(value(row))))]
      .map((cells) => `${cells.map(quoted).join(',')}\r\n`)
      .join(''),
};

const visible = <Row>(columns: readonly Column<Row>[]) => columns.filter(({ hidden }) => hidden !== true);

const linesOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

const objectOf = <Row>(columns: readonly Column<Row>[], row: Row): Record<string, JsonValue> =>
  Object.fromEntries(columns.map(({ name, value }) => [name, value(row)]));

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

function plain(value: JsonValue): string {
  if (value === null) return '';
  if (Array.isArray(value)) return value.map(plain).join(' ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// Names and descriptions come from outside: what they hold must not steer the terminal or break a line.
function cellText<Row>(column: Column<Row>, row: Row): string {
  const text = column.text === undefined ? plain(column.value(row)) : column.text(row);
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');
}

const gap = '  ';
const elasticWidthMin = 8;

function tableOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[], output: Output): string {
  const headings = columns.map(({ name, heading }) => heading ?? name.toUpperCase());
  const cells = rows.map((row) => columns.map((column) => cellText(column, row)));
  const widths = narrowed(
    columns,
    widthsOf([headings, ...cells]),
    output.columns ?? Number.POSITIVE_INFINITY,
  );
  const place = (text: string, index: number): string => {
    const width = widths[index] ?? 0;
    const cut = text.length > width ? `${text.slice(0, width - 1)}…` : text;
    return columns[index]?.align === 'right' ? cut.padStart(width) : cut.padEnd(width);
  };
  const head = styleText('bold', headings.map(place).join(gap).trimEnd(), { stream: output });
  const body = rows.flatMap((row, at) =>
    inLines(columns, cells[at] ?? [], widths).map((line) =>
      columns
        .map((column, index) => toned(place(line[index] ?? '', index), column.tone?.(row), output))
        .join(gap)
        .trimEnd(),
    ),
  );
  return linesOf([head, ...body]);
}

/** The cells of each line that a row takes: one, unless a cell goes on in the next. */
function inLines<Row>(
  columns: readonly Column<Row>[],
  cells: readonly string[],
  widths: readonly number[],
): string[][] {
  const parts = cells.map((text, index) =>
    columns[index]?.elastic === 'in-lines' ? brokenAt(text, widths[index] ?? 1) : [text],
  );
  const height = Math.max(1, ...parts.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => parts.map((part) => part[line] ?? ''));
}

/** Lines of at most so many letters: between words where there are any, within a word that is longer. */
function brokenAt(text: string, width: number): string[] {
  if (text.length <= width) return [text];
  const space = text.lastIndexOf(' ', width);
  const end = space > 0 ? space : width;
  return [text.slice(0, end), ...brokenAt(text.slice(end).trimStart(), width)];
}

const toned = (text: string, tone: Tone | undefined, output: Output): string =>
  tone === undefined ? text : styleText(tone, text, { stream: output });

const widthsOf = (lines: readonly (readonly string[])[]): number[] =>
  (lines[0] ?? []).map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));

/** Takes what is too much from the elastic columns, from the widest one at a time. */
function narrowed<Row>(
  columns: readonly Column<Row>[],
  natural: readonly number[],
  available: number,
): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, gap.length * (widths.length - 1)) - available;
  for (; excess > 0; excess--) {
    const elastic = widths.map((width, index) => (columns[index]?.elastic ? width : 0));
    const widest = Math.max(...elastic);
    if (widest <= elasticWidthMin) break;
    widths[elastic.indexOf(widest)] = widest - 1;
  }
  return widths;
}
