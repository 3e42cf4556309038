// Whether a value that stands in the text fits the parameter it is given to.
import type { Node } from 'web-tree-sitter';
import { plainString } from './grammar.ts';
import { type Declaration, decoratorOf } from './project.ts';

const kindOf: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'int',
  boolean: 'bool',
  array: 'array',
  object: 'object',
};

/** `string`, `int`, `bool`, `array` or `object`, as a parameter declares it. */
export function typeOf({ node }: Declaration): string {
  const type = node.namedChildren.find((child) => child.type === 'type')?.text ?? '';
  const plain = type.replace(/\?$/, '');
  if (plain.endsWith('[]')) return 'array';
  if (plain.startsWith('{')) return 'object';
  return plain.startsWith("'") ? 'string' : plain;
}

/** What is wrong with a value; nothing when it is not known before a deployment. */
export function valueFaults(param: Declaration, value: Node | undefined): string[] {
  const kind = kindOf[value?.type ?? ''];
  if (value === undefined || kind === undefined) return [];
  const type = typeOf(param);
  if (kind !== type) return [`${param.name} takes ${type}, not ${kind}`];
  return [...allowedFaults(param, value), ...rangeFaults(param, value), ...lengthFaults(param, value)];
}

/**
 * What is wrong with handing one parameter on as another: the compiler refuses a string where only some are allowed.
 * @param from of the file that calls the module
 */
export function passingFaults(param: Declaration, from: Declaration): string[] {
  const [wanted, given] = [typeOf(param), typeOf(from)];
  if (wanted !== given && wanted !== 'any') return [`${param.name} takes ${wanted}, not ${given}`];
  const [allowed, possible] = [allowedOf(param), allowedOf(from)];
  const isTooWide = allowed !== undefined && !possible?.every((value) => allowed.includes(value));
  return isTooWide ? [`${param.name} takes only ${allowed.join(', ')}`] : [];
}

/** The values that a parameter or its elements may have; undefined when any. */
function allowedOf(param: Declaration): readonly string[] | undefined {
  const decorated = decoratorOf(param, 'allowed')?.[0]?.namedChildren.map(
    (each) => plainString(each) ?? each.text,
  );
  const [union] =
    param.node.namedChildren.find(({ type }) => type === 'type')?.descendantsOfType('union_type') ?? [];
  return decorated ?? union?.namedChildren.map((each) => plainString(each) ?? each.text);
}

function allowedFaults(param: Declaration, value: Node): string[] {
  const allowed = decoratorOf(param, 'allowed')?.[0]?.namedChildren.map(
    (each) => plainString(each) ?? each.text,
  );
  const given = plainString(value) ?? value.text;
  return allowed === undefined || value.namedChildren.some(isInterpolated) || allowed.includes(given)
    ? []
    : [`${param.name} cannot be ${given}`];
}

const isInterpolated = ({ type }: Node): boolean => type === 'interpolation';

const limitOf = (param: Declaration, name: string): number | undefined => {
  const text = decoratorOf(param, name)?.[0]?.text;
  return text === undefined ? undefined : Number(text);
};

function rangeFaults(param: Declaration, value: Node): string[] {
  if (value.type !== 'number') return [];
  const [lowest = -Infinity, highest = Infinity] = [limitOf(param, 'minValue'), limitOf(param, 'maxValue')];
  const given = Number(value.text);
  return given < lowest || given > highest ? [`${param.name} cannot be ${given}`] : [];
}

function lengthFaults(param: Declaration, value: Node): string[] {
  const length = plainString(value)?.length;
  if (length === undefined) return [];
  const [shortest = 0, longest = Infinity] = [limitOf(param, 'minLength'), limitOf(param, 'maxLength')];
  return length < shortest || length > longest ? [`${param.name} cannot have ${length} characters`] : [];
}
