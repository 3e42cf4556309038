// Makes a body out of a record as a template says: a tree of JSON in which only texts are filled in, so that no record
// can break it or add to it.
import type { BridgeRecord } from '../../core/record.ts';
import { applyFilter, faultOfCall, textOf, unfit } from './payload-filters.ts';
import { isText, type Part, type Placeholder, partsOf } from './payload-placeholder.ts';

/** What is wrong at one place of a template. */
export interface TemplateFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** What a template is filled in with. */
export interface Filling {
  readonly record: BridgeRecord;
  /** What `secrets.NAME` stands for. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** A template that can be filled in. */
export interface Template {
  /** The body for a record; null when a filter can do nothing with what the record says. */
  fill(filling: Filling): Buffer | null;
  /** Where and why it cannot be filled in with this. */
  faultsWith(filling: Filling): readonly TemplateFault[];
}

/** What a template came to. */
export type Compiled =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly faults: readonly TemplateFault[] };

const depthMax = 16;
const valuesMax = 1_000;
const tooLarge = `More than ${valuesMax} values and placeholders`;
const bodyBytesMax = 1024 * 1024;

type Path = readonly (string | number)[];
/** Gives the value that stands in the tree; what cannot be had is noted in `faults`. */
type Fill = (filling: Filling, faults: TemplateFault[]) => unknown;

/** What is found while a tree is read. */
interface Findings {
  readonly faults: TemplateFault[];
  values: number;
}

/**
 * Reads a template.
 * @param tree any JSON value; its texts may hold `{{ path | filter:argument }}`, its keys are taken as they are
 */
export function compileTemplate(tree: unknown): Compiled {
  const findings: Findings = { faults: [], values: 0 };
  const fill = fillOf(tree, [], findings);
  if (findings.faults.length > 0) return { ok: false, faults: findings.faults };
  return { ok: true, template: templateOf(fill) };
}

function templateOf(fill: Fill): Template {
  return {
    fill: (filling) => {
      const faults: TemplateFault[] = [];
      const body = Buffer.from(JSON.stringify(fill(filling, faults)), 'utf8');
      return faults.length > 0 || body.length > bodyBytesMax ? null : body;
    },
    faultsWith: (filling) => {
      const faults: TemplateFault[] = [];
      fill(filling, faults);
      return faults;
    },
  };
}

function fillOf(tree: unknown, path: Path, findings: Findings): Fill {
  findings.values += 1;
  if (path.length > depthMax) return refuse(path, `Deeper than ${depthMax} levels`, findings);
  if (findings.values > valuesMax) return refuseSize(findings);
  if (typeof tree === 'string') return fillOfText(tree, path, findings);
  if (Array.isArray(tree)) return fillOfList(tree, path, findings);
  if (typeof tree === 'object' && tree !== null) return fillOfMap(tree, path, findings);
  if (typeof tree === 'number' && !Number.isFinite(tree)) {
    return refuse(path, 'JSON has no such number', findings);
  }
  return () => tree;
}

function refuse(path: Path, message: string, { faults }: Findings): Fill {
  faults.push({ path, message });
  return () => null;
}

/** Once is enough, and the rest of the tree may be without end. */
function refuseSize(findings: Findings): Fill {
  const known = findings.faults.some(({ message }) => message === tooLarge);
  return known ? () => null : refuse([], tooLarge, findings);
}

function fillOfList(list: readonly unknown[], path: Path, findings: Findings): Fill {
  const fills = list.map((item, index) => fillOf(item, [...path, index], findings));
  return (filling, faults) => fills.map((fill) => fill(filling, faults));
}

function fillOfMap(map: object, path: Path, findings: Findings): Fill {
  if (isBarePlaceholder(map)) return refuse(path, bare, findings);
  const fills = Object.entries(map).map(
    ([key, value]) => [key, fillOf(value, [...path, key], findings)] as const,
  );
  return (filling, faults) => Object.fromEntries(fills.map(([key, fill]) => [key, fill(filling, faults)]));
}

const bare = 'Put the {{ … }} into quotes: without them YAML reads the braces as a mapping';

/** What YAML makes of `{{ data.x }}`: a mapping whose one key is a mapping, which comes here as text. */
function isBarePlaceholder(map: object): boolean {
  const [[key, value] = ['', ''], ...more] = Object.entries(map);
  return more.length === 0 && value === null && /^\{.*\}$/s.test(key);
}

function fillOfText(text: string, path: Path, findings: Findings): Fill {
  const parts = partsOf(text);
  if (parts === null) {
    return refuse(path, 'Expected {{ path | filter:argument }} where there is a {{', findings);
  }
  const placeholders = parts.filter((part): part is Placeholder => !isText(part));
  findings.values += placeholders.length;
  for (const call of placeholders.flatMap(({ filters }) => filters)) {
    const message = faultOfCall(call);
    if (message !== null) findings.faults.push({ path, message });
  }
  if (findings.values > valuesMax) return refuseSize(findings);
  const [first] = parts;
  // A text that is nothing but one placeholder becomes what stands there: a number stays a number.
  if (parts.length === 1 && first !== undefined && !isText(first)) {
    return (filling, faults) => valueAt(first, filling, path, faults) ?? null;
  }
  return (filling, faults) => parts.map((part) => textOfPart(part, filling, path, faults)).join('');
}

const textOfPart = (part: Part, filling: Filling, path: Path, faults: TemplateFault[]): string =>
  isText(part) ? part : textOf(valueAt(part, filling, path, faults));

function valueAt(
  { path: names, filters }: Placeholder,
  { record, secrets }: Filling,
  path: Path,
  faults: TemplateFault[],
): unknown {
  const isSecret = names[0] === 'secrets';
  let value = isSecret ? childOf(secrets, names.slice(1).join('.')) : names.reduce<unknown>(childOf, record);
  // A record may lack a value; a secret that is not there is a mistake.
  if (isSecret && value === undefined) {
    faults.push({ path, message: 'There is no such name in templateSecrets' });
  }
  for (const call of filters) {
    value = applyFilter(call, value);
    if (value !== unfit) continue;
    faults.push({ path, message: `The filter "${call.name}" can do nothing with what stands there` });
    return null;
  }
  return value;
}

/** Only what the record itself has: a plain look-up would find `constructor` in every object. */
function childOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}
