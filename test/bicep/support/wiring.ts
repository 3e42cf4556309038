// Whether the files fit together: symbols, functions, modules with their parameters and outputs.
import type { Node } from 'web-tree-sitter';
import { lineOf, propertyName, propertyOf } from './grammar.ts';
import {
  type Declaration,
  declarationsIn,
  type Fault,
  moduleFileOf,
  type Project,
  remembered,
  rootIn,
  templatesOf,
} from './project.ts';
import { passingFaults, valueFaults } from './values.ts';

/** The functions of Bicep that the files use; a new one is looked up and added here. */
const functions = new Set([
  ...[
    'any',
    'concat',
    'contains',
    'empty',
    'endsWith',
    'environment',
    'extensionResourceId',
    'format',
    'guid',
  ],
  ...[
    'indexOf',
    'items',
    'join',
    'json',
    'last',
    'length',
    'loadJsonContent',
    'loadTextContent',
    'map',
    'max',
    'min',
  ],
  ...[
    'filter',
    'first',
    'flatten',
    'int',
    'padLeft',
    'range',
    'reduce',
    'replace',
    'resourceGroup',
    'resourceId',
  ],
  ...[
    'split',
    'startsWith',
    'string',
    'subscription',
    'subscriptionResourceId',
    'substring',
    'skip',
    'take',
    'tenant',
  ],
  ...['tenantResourceId', 'toLower', 'toObject', 'toUpper', 'trim', 'union', 'uniqueString', 'uri', 'base64'],
]);
const decorators = new Set([
  ...[
    'allowed',
    'batchSize',
    'description',
    'maxLength',
    'maxValue',
    'metadata',
    'minLength',
    'minValue',
    'secure',
  ],
]);

/** Every fault in how the templates are put together. */
export const wiringFaults = (project: Project): Fault[] =>
  templatesOf(project).flatMap((path) => [
    ...ownFaults(project, path),
    ...moduleFaults(project, path),
    ...outputReferenceFaults(project, path),
  ]);

const ownFaults = remembered((project, path) => [
  ...symbolFaults(project, path),
  ...unusedFaults(project, path),
]);

/** By the text: inside a list the grammar reads `f(x)` as two elements. */
const isCalled = (text: string, node: Node): boolean => text[node.endIndex] === '(';

/** The names that a file may use anywhere. */
function symbolsOf(project: Project, path: string): Map<string, Declaration> {
  const { params, variables, resources, modules } = declarationsIn(project, path);
  return new Map([...params, ...variables, ...resources, ...modules].map((each) => [each.name, each]));
}

const isTypeOrName = (node: Node): boolean =>
  node.parent !== null &&
  (['type', 'nullable_type', 'array_type', 'union_type', 'parameter'].includes(node.parent.type) ||
    (/_declaration$|^user_defined_function$/.test(node.parent.type) &&
      node.parent.namedChildren.find(({ type }) => type === 'identifier')?.id === node.id) ||
    (node.parent.type === 'object_property' && node.parent.namedChildren[0]?.id === node.id));

/** Names that loops, lambdas and functions bring along for what stands inside them. */
function broughtAlong(node: Node): readonly string[] {
  const brought = (parent: Node): readonly string[] => {
    if (parent.type === 'for_statement') {
      const head = parent.namedChildren.find(({ type }) => type === 'for_loop_parameters');
      return head === undefined
        ? [parent.childForFieldName('initializer')?.text ?? '']
        : head.namedChildren.map(({ text }) => text);
    }
    if (parent.type === 'lambda_expression') return parent.namedChildren.slice(0, -1).flatMap(identifiersOf);
    if (parent.type === 'user_defined_function') {
      return parent.descendantsOfType('parameter').flatMap((each) => each.namedChildren[0]?.text ?? []);
    }
    return [];
  };
  const names: string[] = [];
  for (let parent = node.parent; parent !== null; parent = parent.parent) names.push(...brought(parent));
  return names;
}

const identifiersOf = (node: Node): string[] =>
  node.type === 'identifier' ? [node.text] : node.descendantsOfType('identifier').map(({ text }) => text);

function symbolFaults(project: Project, path: string): Fault[] {
  const symbols = symbolsOf(project, path);
  const source = project.get(path) ?? '';
  const own = new Set(declarationsIn(project, path).functions.map(({ name }) => name));
  return rootIn(project, path)
    .descendantsOfType('identifier')
    .filter((node) => !isTypeOrName(node))
    .flatMap((node) => {
      const { text } = node;
      const known = isCalled(source, node)
        ? functions.has(text) || own.has(text) || (isDecorator(node) && decorators.has(text))
        : symbols.has(text) || text === 'az' || broughtAlong(node).includes(text) || isBound(node);
      return known ? [] : [{ path, line: lineOf(node), says: `nothing is called ${text}` }];
    });
}

const isDecorator = (node: Node): boolean => node.parent?.parent?.type === 'decorator';

/** The name itself, where a loop or a lambda introduces it. */
const isBound = (node: Node): boolean =>
  node.parent?.type === 'lambda_expression' || node.parent?.childForFieldName('initializer')?.id === node.id;

function unusedFaults(project: Project, path: string): Fault[] {
  const { params, variables, functions: own, resources } = declarationsIn(project, path);
  const existing = resources.filter(({ node }) => /^resource \w+ '[^']*' existing\b/.test(node.text));
  const uses = rootIn(project, path)
    .descendantsOfType('identifier')
    .filter((node) => !isTypeOrName(node));
  return [...params, ...variables, ...own, ...existing]
    .filter(({ name, node }) => !uses.some((use) => use.text === name && !isInside(use, node)))
    .map(({ name, node }) => ({ path, line: lineOf(node), says: `${name} is never used` }));
}

const isInside = ({ startIndex }: Node, outer: Node): boolean =>
  startIndex >= outer.startIndex && startIndex < outer.endIndex;

function moduleFaults(project: Project, path: string): Fault[] {
  const { params: own, modules } = declarationsIn(project, path);
  return modules.flatMap((module) => {
    const file = moduleFileOf(path, module);
    const at = { path, line: lineOf(module.node) };
    if (!project.has(file)) return [{ ...at, says: `${module.name}: there is no ${file}` }];
    const params = declarationsIn(project, file).params;
    const given = propertyOf(module.value, 'params')?.namedChildren.filter(isProperty) ?? [];
    const names = given.map(propertyName);
    return [
      ...params
        .filter((param) => isRequired(param) && !names.includes(param.name))
        .map(({ name }) => ({ ...at, says: `${module.name}: ${name} is missing` })),
      ...given.flatMap((property) => {
        const param = params.find(({ name }) => name === propertyName(property));
        const line = lineOf(property);
        if (param === undefined) {
          return [{ path, line, says: `${module.name}: ${file} has no parameter ${propertyName(property)}` }];
        }
        const value = property.namedChildren.at(-1);
        const from = own.find(({ name }) => value?.type === 'identifier' && name === value.text);
        const faults = from === undefined ? valueFaults(param, value) : passingFaults(param, from);
        return faults.map((says) => ({ path, line, says }));
      }),
    ];
  });
}

const isProperty = ({ type }: Node): boolean => type === 'object_property';

/** Whether a parameter must be given. */
export const isRequired = ({ node }: Declaration): boolean => {
  const last = node.namedChildren.at(-1);
  return last?.type === 'type' && last.namedChildren[0]?.type !== 'nullable_type';
};

/** Modules whose output is asked for by a name that it does not have. */
function outputReferenceFaults(project: Project, path: string): Fault[] {
  const modules = new Map(declarationsIn(project, path).modules.map((module) => [module.name, module]));
  if (modules.size === 0) return [];
  const members = rootIn(project, path).descendantsOfType('member_expression');
  return members.flatMap((node) => {
    const match = /^(\w+)(?:\[[^\]]*\])?\.\??outputs\.\??(\w+)$/.exec(node.text);
    const module = modules.get(match?.[1] ?? '');
    if (module === undefined) return [];
    const file = moduleFileOf(path, module);
    const outputs = project.has(file) ? declarationsIn(project, file).outputs : [];
    if (outputs.some(({ name }) => name === match?.[2])) return [];
    return [{ path, line: lineOf(node), says: `${module.name} has no output ${match?.[2]}` }];
  });
}
