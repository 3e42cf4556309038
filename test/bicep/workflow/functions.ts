// The functions of workflow expressions that the relay uses, at their strictest: what a reading of the documentation
// leaves open (null for a text, a number for a list) is an error here.
// Source: learn.microsoft.com, "Reference guide to workflow expression functions in Azure Logic Apps".
import { isDeepStrictEqual } from 'node:util';

export class ExpressionFault extends Error {}

const fault = (problem: string): never => {
  throw new ExpressionFault(problem);
};

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : fault(`a text was expected: ${JSON.stringify(value)}`);

const numberOf = (value: unknown): number =>
  typeof value === 'number' ? value : fault(`a number was expected: ${JSON.stringify(value)}`);

const wholeOf = (value: unknown): number =>
  Number.isSafeInteger(value) ? numberOf(value) : fault(`a whole number was expected: ${String(value)}`);

const truthOf = (value: unknown): boolean =>
  typeof value === 'boolean' ? value : fault(`true or false was expected: ${JSON.stringify(value)}`);

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : fault(`a list was expected: ${JSON.stringify(value)}`);

const sized = (value: unknown): string | readonly unknown[] =>
  typeof value === 'string' ? value : listOf(value);

/** @param format of .NET: of its letters those alone that the relay uses */
function formattedTime(value: string, format: string): string {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value)) fault(`not a time in UTC: ${value}`);
  const parts = new Map([
    ['yyyy', value.slice(0, 4)],
    ['MM', value.slice(5, 7)],
    ['dd', value.slice(8, 10)],
    ['HH', value.slice(11, 13)],
    ['mm', value.slice(14, 16)],
    ['ss', value.slice(17, 19)],
  ]);
  // Letters that .NET does not know stand for themselves.
  if (/[dfFgGhHKmMstyz]/.test(format.replace(/yyyy|MM|dd|HH|mm|ss/g, ''))) fault(`unknown format: ${format}`);
  return format.replace(/yyyy|MM|dd|HH|mm|ss/g, (part) => parts.get(part) ?? part);
}

/** How a value is written as text. */
const written = (value: unknown): string => {
  if (value === null) return fault('null is no text');
  return typeof value === 'string' ? value : JSON.stringify(value);
};

function part(value: string, start: number, length: number): string {
  return start < 0 || length < 0 || start + length > value.length
    ? fault(`no such part of a text: ${start}, ${length}`)
    : value.slice(start, start + length);
}

type Implementation = (...given: readonly unknown[]) => unknown;

export const functions: Readonly<Record<string, Implementation>> = {
  and: (...all) => all.map(truthOf).every(Boolean),
  coalesce: (...all) => all.find((one) => one !== null && one !== undefined) ?? null,
  concat: (...all) => all.map(textOf).join(''),
  contains: (list, one) =>
    typeof list === 'string' ? list.includes(textOf(one)) : listOf(list).includes(one),
  createArray: (...all) => all,
  decodeUriComponent: (value) => decodeURIComponent(textOf(value)),
  div: (left, right) => Math.trunc(wholeOf(left) / (wholeOf(right) || fault('division by zero'))),
  equals: (left, right) => isDeepStrictEqual(left ?? null, right ?? null),
  first: (list) => sized(list)[0] ?? null,
  formatDateTime: (value, format) => formattedTime(textOf(value), textOf(format)),
  formatNumber: (value, format) =>
    format === '0' ? String(Math.round(numberOf(value))) : fault('unknown format'),
  greater: (left, right) => numberOf(left) > numberOf(right),
  greaterOrEquals: (left, right) => numberOf(left) >= numberOf(right),
  if: (condition, yes, no) => (truthOf(condition) ? yes : no),
  int: (value) => wholeOf(Number(textOf(value))),
  join: (list, between) => listOf(list).map(written).join(textOf(between)),
  json: (value) => JSON.parse(textOf(value)),
  length: (value) => sized(value).length,
  less: (left, right) => numberOf(left) < numberOf(right),
  mod: (left, right) => wholeOf(left) % (wholeOf(right) || fault('division by zero')),
  not: (value) => !truthOf(value),
  or: (...all) => all.map(truthOf).some(Boolean),
  replace: (value, from, to) =>
    textOf(value).replaceAll(textOf(from) || fault('nothing to replace'), () => textOf(to)),
  setProperty: (object, name, value) => ({ ...Object(object), [textOf(name)]: value }),
  startsWith: (value, start) => textOf(value).toLowerCase().startsWith(textOf(start).toLowerCase()),
  string: (value) => written(value),
  sub: (left, right) => numberOf(left) - numberOf(right),
  substring: (value, start, length) => part(textOf(value), wholeOf(start), wholeOf(length)),
  take: (value, count) => sized(value).slice(0, wholeOf(count)),
  toLower: (value) => textOf(value).toLowerCase(),
  // Like Uri.EscapeDataString of .NET, which has no mercy for these either.
  uriComponent: (value) =>
    encodeURIComponent(textOf(value).toWellFormed()).replace(
      /[!'()*]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
    ),
};
