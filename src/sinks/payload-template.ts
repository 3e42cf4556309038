// Makes a body out of a record as a template says: a tree of JSON in which only texts are filled in, so that no record
// can break it or add to it.
import type { BridgeRecord } from '../core/record.ts';
import { applyFilter, faultOfCall, textOf, unfit } from './payload-filters.ts';
import { isText, type Part, type Placeholder, partsOf } from './payload-placeholder.ts';

/** What is wrong at one place of a template. */
export interface TemplateFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** A template that can be filled in. */
export interface Template {
  /** The body for a record; null when a filter can do nothing with what the record says. */
  fill(record: BridgeRecord): Buffer | null;
  /** Where and why it cannot be filled in with this record. */
  faultsWith(record: BridgeRecord): readonly TemplateFault[];
}

/** What a template came to. */
export type Compiled =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly faults: readonly TemplateFault[] };

const depthMax = 16;
const valuesMax = 1_000;
const bodyBytesMax = 1024 * 1024;

type Path = readonly (string | number)[];
/** Gives the value that stands in the tree for a record; what cannot be had is noted in `faults`. */
type Fill = (record: BridgeRecord, faults: TemplateFault[]) => unknown;

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
    fill: (record) => {
      const faults: TemplateFault[] = [];
      const body = Buffer.from(JSON.stringify(fill(record, faults)), 'utf8');
      return faults.length > 0 || body.length > bodyBytesMax ? null : body;
    },
    faultsWith: (record) => {
      const faults: TemplateFault[] = [];
      fill(record, faults);
      return faults;
    },
  };
}

function fillOf(tree: unknown, path: Path, findings: Findings): Fill {
  findings.values += 1;
  if (path.length > depthMax) return refuse(path, `Deeper than ${depthMax} levels`, findings);
  // Once is enough, and the rest of the tree may be without end.
  if (findings.values > valuesMax + 1) return () => null;
  if (findings.values > valuesMax) return refuse(path, `More than ${valuesMax} values`, findings);
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

function fillOfList(list: readonly unknown[], path: Path, findings: Findings): Fill {
  const fills = list.map((item, index) => fillOf(item, [...path, index], findings));
  return (record, faults) => fills.map((fill) => fill(record, faults));
}

function fillOfMap(map: object, path: Path, findings: Findings): Fill {
  const fills = Object.entries(map).map(
    ([key, value]) => [key, fillOf(value, [...path, key], findings)] as const,
  );
  return (record, faults) => Object.fromEntries(fills.map(([key, fill]) => [key, fill(record, faults)]));
}

function fillOfText(text: string, path: Path, findings: Findings): Fill {
  const parts = partsOf(text);
  if (parts === null) {
    return refuse(path, 'Expected {{ path | filter:argument }} where there is a {{', findings);
  }
  for (const call of parts.flatMap((part) => (isText(part) ? [] : part.filters))) {
    const message = faultOfCall(call);
    if (message !== null) findings.faults.push({ path, message });
  }
  const [first] = parts;
  // A text that is nothing but one placeholder becomes what stands there: a number stays a number.
  if (parts.length === 1 && first !== undefined && !isText(first)) {
    return (record, faults) => valueAt(first, record, path, faults) ?? null;
  }
  return (record, faults) => parts.map((part) => textOfPart(part, record, path, faults)).join('');
}

const textOfPart = (part: Part, record: BridgeRecord, path: Path, faults: TemplateFault[]): string =>
  isText(part) ? part : textOf(valueAt(part, record, path, faults));

function valueAt(
  { path: names, filters }: Placeholder,
  record: BridgeRecord,
  path: Path,
  faults: TemplateFault[],
): unknown {
  let value: unknown = names.reduce(childOf, record);
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
