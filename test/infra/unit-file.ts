// Reads systemd's units and drop-ins as systemd does: lists grow, and an empty assignment begins them anew.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../support/source-files.ts';

export interface Assignment {
  readonly section: string;
  readonly key: string;
  readonly value: string;
  /** The comment right above it. */
  readonly why: string;
}

export const unitFolder = join(projectRoot, 'infra/systemd');

export const unitText = (name: string): string => readFileSync(join(unitFolder, name), 'utf8');

/** Paths below the folder of the units. */
export const unitNames = (): string[] =>
  readdirSync(unitFolder).filter((name) => /\.(service|path|timer)$/.test(name));
export const dropInNames = (): string[] =>
  readdirSync(join(unitFolder, 'drop-ins')).map((name) => `drop-ins/${name}`);

/** The assignments of one file, in order. Syntax: systemd.syntax(7). */
export function readUnit(name: string): readonly Assignment[] {
  const found: Assignment[] = [];
  let section = '';
  let comment: string[] = [];
  for (const line of unitText(name).split('\n')) {
    const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    if (line.startsWith('#')) {
      comment.push(line.replace(/^# ?/, ''));
      continue;
    }
    if (key !== undefined && value !== undefined)
      found.push({ section, key, value: value.trim(), why: comment.join(' ') });
    else section = sectionOf(line, name) ?? section;
    comment = [];
  }
  return found;
}

/** @returns null for an empty line @throws Error for one that is nothing */
function sectionOf(line: string, name: string): string | null {
  const section = /^\[(\w+)\]$/.exec(line)?.[1] ?? null;
  if (section === null && line !== '') throw new Error(`${name}: cannot read "${line}"`);
  return section;
}

/** All values that a key has in a unit with its drop-ins. */
export function valuesOf(key: string, ...names: readonly string[]): readonly string[] {
  const values = names
    .flatMap(readUnit)
    .filter((each) => each.key === key)
    .map(({ value }) => value);
  return values.slice(values.lastIndexOf('') + 1);
}

/** The words of all values of a key. */
export const wordsOf = (key: string, ...names: readonly string[]): readonly string[] =>
  valuesOf(key, ...names).flatMap((value) => value.split(/\s+/));

/** The last value, which is the one that counts where there can be one only. */
export const lastValueOf = (key: string, ...names: readonly string[]): string | undefined =>
  valuesOf(key, ...names).at(-1);

const secondsPer = { '': 1, s: 1, min: 60, h: 3600 } as const;

/** A span such as `20` or `15min`, in seconds. */
export function secondsOf(span: string | undefined): number {
  const [, count, unit = ''] = /^(\d+)(s|min|h)?$/.exec(span ?? '') ?? [];
  if (count === undefined) throw new Error(`"${span}" is no span of time`);
  return Number(count) * secondsPer[unit as keyof typeof secondsPer];
}
