// The filters of a template: each takes the value that stands in the record and gives what is sent instead.
import { lengthText, readTime, utcText } from '../../core/notice/time-text.ts';
import type { FilterArgument, FilterCall } from './payload-placeholder.ts';

/** Given by a filter that can do nothing with such a value: a date out of what is no time. */
export const unfit: unique symbol = Symbol('unfit');

/** One filter. */
interface Filter {
  /** What is wrong with the argument, as a sentence; null when nothing is. */
  faultOf(argument: FilterArgument): string | null;
  /** What becomes of a value that is there. */
  apply(value: unknown, argument: FilterArgument): unknown;
  /** What becomes of a value that is not there; it stays away unless given. */
  absent?(argument: FilterArgument): unknown;
}

const truncateMax = 100_000;

const filters: Readonly<Record<string, Filter>> = {
  json: { faultOf: none, apply: (value) => JSON.stringify(value), absent: () => 'null' },
  upper: { faultOf: none, apply: (value) => textOf(value).toUpperCase() },
  lower: { faultOf: none, apply: (value) => textOf(value).toLowerCase() },
  default: {
    faultOf: (argument) => (argument === undefined ? 'Expected a value, such as default:none' : null),
    apply: (value, argument) => (value === '' ? argument : value),
    absent: (argument) => argument,
  },
  date: { faultOf: faultOfDateForm, apply: dateOf },
  duration: { faultOf: none, apply: durationOf },
  truncate: {
    faultOf: (argument) =>
      Number.isInteger(argument) && Number(argument) >= 1 && Number(argument) <= truncateMax
        ? null
        : `Expected a number of characters from 1 to ${truncateMax}, such as truncate:200`,
    apply: (value, argument) => truncated(textOf(value), Number(argument)),
  },
  slackEscape: { faultOf: none, apply: (value) => slackEscape(textOf(value)) },
  mdEscape: { faultOf: none, apply: (value) => markdownEscape(textOf(value)) },
};

/** What is wrong with a filter as a template names it, as a sentence; null when nothing is. */
export function faultOfCall({ name, argument }: FilterCall): string | null {
  const filter = filterOf(name);
  if (filter !== undefined) return filter.faultOf(argument);
  return `There is no filter "${name.slice(0, 30)}"; there are ${Object.keys(filters).join(', ')}`;
}

/**
 * Sends a value through one filter.
 * @param value null or undefined when nothing stands in its place
 * @returns `unfit` when the filter can do nothing with it
 */
export function applyFilter({ name, argument }: FilterCall, value: unknown): unknown {
  const filter = filterOf(name);
  if (filter === undefined) return unfit;
  if (value !== null && value !== undefined) return filter.apply(value, argument);
  return filter.absent === undefined ? value : filter.absent(argument);
}

const filterOf = (name: string): Filter | undefined =>
  Object.hasOwn(filters, name) ? filters[name] : undefined;

/** A value in the middle of a text: lists with commas, nothing for what is not there. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function none(argument: FilterArgument): string | null {
  return argument === undefined ? null : 'This filter takes no argument';
}

const named: Readonly<Record<string, (at: number) => unknown>> = {
  iso: (at) => new Date(at).toISOString(),
  unix: (at) => Math.floor(at / 1000),
  utc: utcText,
  // The zone of the VM: nobody here knows that of the reader.
  local: (at) => zonedText(at, undefined),
};

const formOf = (form: FilterArgument): string => (typeof form === 'string' ? form : '');

const dateFormat = (zone: string | undefined) =>
  // Sweden writes dates as `2026-11-10 22:26:58`.
  new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: zone });

const offsetFormat = (zone: string | undefined) =>
  new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'shortOffset' });

/** Such as `2026-11-10 23:26:58 GMT+1`. */
function zonedText(at: number, zone: string | undefined): string {
  const offset = offsetFormat(zone)
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName');
  return `${dateFormat(zone).format(at)} ${offset?.value ?? ''}`;
}

function dateOf(value: unknown, argument: FilterArgument): unknown {
  const at = readTime(value);
  if (at === null) return unfit;
  const form = formOf(argument);
  return Object.hasOwn(named, form) ? named[form]?.(at) : zonedText(at, form);
}

function faultOfDateForm(argument: FilterArgument): string | null {
  const form = formOf(argument);
  if (Object.hasOwn(named, form)) return null;
  try {
    dateFormat(form);
    return null;
  } catch {
    return `Expected ${Object.keys(named).join(', ')} or a time zone, such as date:Europe/Oslo`;
  }
}

function durationOf(value: unknown): unknown {
  if (typeof value !== 'number' || !Number.isFinite(value)) return unfit;
  return value < 0 ? `-${lengthText(-value)}` : lengthText(value);
}

function truncated(text: string, lengthMax: number): string {
  const characters = [...text];
  return characters.length <= lengthMax ? text : `${characters.slice(0, lengthMax - 1).join('')}…`;
}

/** Slack's three control characters: without them no text can mention a channel or hide a link. */
const slackEscape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A backslash before all that Markdown may read (CommonMark 0.31, section 2.4: any ASCII punctuation can have one). */
const markdownEscape = (text: string): string => text.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`);
