// Works out what a Bicep expression gives, as far as that is known before a deployment.
import type { Node } from 'web-tree-sitter';
import { type Each, functions, listFunctions, Unknown, type Value } from './functions.ts';
import { propertyName, unescaped } from './grammar.ts';
import { declarationsIn, type Project } from './project.ts';

export { Unknown, type Value };

export type Scope = Readonly<Record<string, Value | (() => Value)>>;

/** Parameters as given or by default, and the variables of a file. */
export function scopeOf(project: Project, path: string, given: Readonly<Record<string, Value>> = {}): Scope {
  const { params, variables } = declarationsIn(project, path);
  const scope: Record<string, Value | (() => Value)> = {};
  for (const { name, node } of params) {
    const value = node.namedChildren.at(-1);
    scope[name] =
      given[name] ?? (value === undefined || value.type === 'type' ? null : () => evaluate(value, scope));
  }
  for (const { name, node } of variables) {
    const value = node.namedChildren.at(-1);
    if (value !== undefined) scope[name] = () => evaluate(value, scope);
  }
  return scope;
}

/** @returns the value; inside of it an `Unknown` for each part that only Azure knows */
export function evaluate(node: Node, scope: Scope): Value {
  switch (node.type) {
    case 'string':
      return textOf(node, scope);
    case 'number':
      return Number(node.text);
    case 'boolean':
      return node.text === 'true';
    case 'null':
      return null;
    case 'array':
      return elementsOf(node, scope);
    case 'object':
      return objectOf(node, scope);
    case 'identifier':
      return symbolOf(node.text, scope);
    case 'parenthesized_expression':
      return evaluateFirst(node, scope);
    case 'ternary_expression':
      return chosen(node, scope, (alternative) => evaluate(alternative, scope));
    case 'member_expression':
      return memberOf(node, scope);
    case 'binary_expression':
      return binaryOf(node, scope);
    case 'unary_expression':
      return unaryOf(node, scope);
    case 'call_expression':
      return callOf(node, scope);
    case 'subscript_expression':
      return elementOf(node, scope);
    case 'for_statement':
      return loopOf(node, scope);
    case 'if_statement': {
      const body = node.namedChildren.at(-1);
      return body === undefined ? null : evaluate(body, scope);
    }
    default:
      return new Unknown(node.text);
  }
}

const evaluateFirst = (node: Node, scope: Scope): Value => {
  const inner = node.namedChildren[0];
  return inner === undefined ? null : evaluate(inner, scope);
};

function symbolOf(name: string, scope: Scope): Value {
  const value = scope[name];
  if (value === undefined) return new Unknown(name);
  return typeof value === 'function' ? value() : value;
}

function textOf(node: Node, scope: Scope): Value {
  const parts = node.namedChildren.map((part) =>
    part.type === 'interpolation' ? evaluateFirst(part, scope) : unescaped(part.text),
  );
  return parts.join('');
}

function elementsOf(node: Node, scope: Scope): Value {
  const parts = node.namedChildren.filter(({ type }) => !/comment/.test(type));
  if (parts[0]?.type === 'for_statement') return evaluate(parts[0], scope);
  return parts.map((part) => evaluate(part, scope));
}

function objectOf(node: Node, scope: Scope): Value {
  const entries = node.namedChildren.flatMap((property): [string, Value][] => {
    const [name, value] = [property.namedChildren[0], property.namedChildren.at(-1)];
    if (property.type !== 'object_property' || name === undefined || value === undefined) return [];
    return [[propertyName(property) ?? String(textOf(name, scope)), evaluate(value, scope)]];
  });
  return Object.fromEntries(entries);
}

function loopOf(node: Node, scope: Scope): Value {
  const head = node.namedChildren.find(({ type }) => type === 'for_loop_parameters');
  const item = head?.namedChildren[0]?.text ?? node.childForFieldName('initializer')?.text ?? '';
  const body = node.namedChildren.at(-1);
  const over = node.namedChildren.at(-2);
  const items = over === undefined ? null : evaluate(over, scope);
  if (!Array.isArray(items) || body === undefined) return new Unknown(node.text);
  const index = head?.namedChildren[1]?.text;
  return items.map((value: Value, position) =>
    evaluate(body, { ...scope, [item]: value, ...(index === undefined ? {} : { [index]: position }) }),
  );
}

/** @param take how to read the alternative: the grammar hangs what follows it on the whole expression */
function chosen(node: Node, scope: Scope, take: (alternative: Node) => Value): Value {
  const [condition, consequence, alternative] = ['condition', 'consequence', 'alternative'].map((field) =>
    node.childForFieldName(field),
  );
  if (!condition || !consequence || !alternative) return new Unknown(node.text);
  const met = evaluate(condition, scope);
  if (met instanceof Unknown) return new Unknown(node.text);
  return met === true ? evaluate(consequence, scope) : take(alternative);
}

function memberOf(node: Node, scope: Scope): Value {
  const [object, property] = [node.childForFieldName('object'), node.childForFieldName('property')];
  if (object === null || property === null) return new Unknown(node.text);
  const read = (value: Value): Value => {
    if (value === null || typeof value !== 'object' || value instanceof Unknown)
      return new Unknown(node.text);
    return (value as Readonly<Record<string, Value>>)[property.text] ?? null;
  };
  return object.type === 'ternary_expression'
    ? chosen(object, scope, (alternative) => read(evaluate(alternative, scope)))
    : read(evaluate(object, scope));
}

function elementOf(node: Node, scope: Scope): Value {
  const [object, index] = [node.childForFieldName('object'), node.childForFieldName('index')];
  const [list, key] = [object, index].map((part) => (part === null ? null : evaluate(part, scope)));
  const isKnown = typeof list === 'object' && list !== null && !(list instanceof Unknown);
  if (!isKnown || key instanceof Unknown) return new Unknown(node.text);
  return (list as Readonly<Record<string, Value>>)[String(key)] ?? null;
}

const operations: Readonly<Record<string, (left: Value, right: Value) => Value>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '>': (left, right) => Number(left) > Number(right),
  '>=': (left, right) => Number(left) >= Number(right),
  '<': (left, right) => Number(left) < Number(right),
  '+': (left, right) => Number(left) + Number(right),
  '*': (left, right) => Number(left) * Number(right),
  '&&': (left, right) => left === true && right === true,
  '||': (left, right) => left === true || right === true,
  '??': (left, right) => left ?? right,
};

function binaryOf(node: Node, scope: Scope): Value {
  const [left, right] = [node.childForFieldName('left'), node.childForFieldName('right')];
  if (left === null || right === null) return new Unknown(node.text);
  const operator = node.text
    .slice(left.endIndex - node.startIndex, right.startIndex - node.startIndex)
    .trim();
  const values = [evaluate(left, scope), evaluate(right, scope)] as const;
  const operation = operations[operator];
  if (operation === undefined || values.some((value) => value instanceof Unknown))
    return new Unknown(node.text);
  return operation(...values);
}

function unaryOf(node: Node, scope: Scope): Value {
  const argument = node.childForFieldName('argument');
  const value = argument === null ? null : evaluate(argument, scope);
  if (value instanceof Unknown) return new Unknown(node.text);
  return node.text.startsWith('!') ? value !== true : -Number(value);
}

function lambdaOf(node: Node, scope: Scope): Each {
  const [parameter, body] = [node.namedChildren[0]?.text ?? '', node.namedChildren.at(-1)];
  return (value) => (body === undefined ? null : evaluate(body, { ...scope, [parameter]: value }));
}

function callOf(node: Node, scope: Scope): Value {
  const name = node.childForFieldName('function')?.text ?? '';
  const given = node.childForFieldName('arguments')?.namedChildren ?? [];
  const [call, listCall] = [functions[name], listFunctions[name]];
  if (listCall !== undefined) {
    const list = given[0] === undefined ? null : evaluate(given[0], scope);
    const each = given.slice(1).map((lambda) => lambdaOf(lambda, scope));
    return Array.isArray(list) ? listCall(list, ...each) : new Unknown(node.text);
  }
  if (call === undefined) return new Unknown(node.text);
  const values = given.map((each) => evaluate(each, scope));
  const isKnown = name === 'uniqueString' || !values.some((value) => value instanceof Unknown);
  return isKnown ? call(...values) : new Unknown(node.text);
}

/** What a resource or module says, with the parameters as given. */
export function bodyOf(
  project: Project,
  path: string,
  name: string,
  given: Readonly<Record<string, Value>> = {},
): Value {
  const { resources, modules } = declarationsIn(project, path);
  const node = [...resources, ...modules].find((each) => each.name === name)?.node.namedChildren.at(-1);
  return node === undefined ? null : evaluate(node, scopeOf(project, path, given));
}

/** One place in a value: `at(body, 'properties', 'sku', 'name')`. */
export function at(value: Value, ...path: readonly (string | number)[]): Value {
  let place: Value = value;
  for (const step of path) {
    if (place === null || typeof place !== 'object' || place instanceof Unknown) return null;
    place = (place as Readonly<Record<string | number, Value>>)[step] ?? null;
  }
  return place;
}
