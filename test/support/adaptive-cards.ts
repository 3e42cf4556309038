// Judges Adaptive Cards with the official package: its parser, its schema of every element, its dates.
import { createRequire } from 'node:module';
import { formatText } from 'adaptivecards/lib/text-formatters.js';

const require = createRequire(import.meta.url);
// The bundle, because the modules beside it import each other in a way that Node does not resolve.
const cards = require('adaptivecards/dist/adaptivecards.js') as typeof import('adaptivecards');

const version = cards.Versions.v1_4;

/** What is wrong with a card, as a reader of version 1.4 sees it: the parser's complaints, and what it would ignore. */
export function faultsOf(card: unknown): string[] {
  const context = new cards.SerializationContext(version);
  const parsed = new cards.AdaptiveCard();
  parsed.parse(card, context);
  const complaints = Array.from({ length: context.eventCount }, (_, at) => context.getEventAt(at).message);
  const invalid = parsed.validateProperties().validationEvents.map(({ message }) => message);
  const declared = child(card, 'version') === version.toString() ? [] : ['the version is not 1.4'];
  return [...complaints, ...invalid, ...declared, ...strangersIn(card, new cards.AdaptiveCard(), 'card')];
}

// What Teams reads beside the schema of cards.
const extensions: readonly string[] = ['$schema', 'msteams'];

/** The properties that no element of this version has, and the elements that there are not. */
function strangersIn(value: unknown, element: SchemaHolder, path: string): string[] {
  const known = propertiesOf(element);
  const strange = Object.keys(Object(value)).filter((name) => !known.has(name) && !extensions.includes(name));
  const below = ['body', 'actions', 'facts'].flatMap((name) =>
    listAt(value, name).flatMap((item, at) => strangersBelow(item, name, `${path}.${name}[${at}]`)),
  );
  return [...strange.map((name) => `${path} has a "${name}"`), ...below];
}

function strangersBelow(item: unknown, list: string, path: string): string[] {
  if (list === 'facts') return strangersIn(item, new cards.Fact(), path);
  const registry = list === 'actions' ? cards.GlobalRegistry.actions : cards.GlobalRegistry.elements;
  const element = registry.createInstance(String(child(item, 'type')), version);
  return element === undefined ? [`${path} is of no type`] : strangersIn(item, element, path);
}

interface SchemaHolder {
  getSchema(): InstanceType<typeof cards.SerializableObjectSchema>;
}

function propertiesOf(element: SchemaHolder): Set<string> {
  const schema = element.getSchema();
  const all = Array.from({ length: schema.getCount() }, (_, at) => schema.getItemAt(at));
  const old = all.filter(({ targetVersion }) => targetVersion.compareTo(version) <= 0);
  return new Set([...old.map(({ name }) => name), 'body', 'actions', 'facts']);
}

const child = (value: unknown, name: string): unknown => (Object(value) as Record<string, unknown>)[name];

function listAt(value: unknown, name: string): readonly unknown[] {
  const list = child(value, name);
  return Array.isArray(list) ? list : [];
}

/** Every text in a card that a person reads, such as those of blocks and facts. */
export function textsIn(card: unknown): readonly string[] {
  if (typeof card !== 'object' || card === null) return [];
  return Object.entries(card).flatMap(([name, value]) =>
    typeof value === 'string' && ['text', 'title', 'value'].includes(name) ? [value] : textsIn(value),
  );
}

/** The text as the package shows it to a reader: points in time put into words and into the reader's zone. */
export const shownText = (text: string): string => formatText('en-US', text) ?? '';

const moment = /\{\{DATE\(([^()]*),SHORT\)\}\} \{\{TIME\(\1\)\}\}/g;

/** The points in time that a card leaves to the reader's client, as they are written. */
export const localTimesIn = (text: string): readonly string[] =>
  [...text.matchAll(moment)].map(([, time = '']) => time);

/** The text without them. */
export const withoutLocalTimes = (text: string): string => text.replace(moment, '');
