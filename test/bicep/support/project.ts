// The Bicep files of the project as text, and what each of them declares: a copy with faults is made by changing the text.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { Node } from 'web-tree-sitter';
import { projectRoot } from '../../support/source-files.ts';
import { innermost, plainString, rootOf } from './grammar.ts';

/** Text by path from the project's root. */
export type Project = ReadonlyMap<string, string>;

export interface Fault {
  readonly path: string;
  readonly line: number;
  readonly says: string;
}

export interface Declaration {
  readonly name: string;
  readonly node: Node;
  /** What is declared, without loops and conditions around it. */
  readonly value: Node | undefined;
  /** The calls above it, such as `description('…')`. */
  readonly decorators: readonly Node[];
}

export interface Declarations {
  readonly params: readonly Declaration[];
  readonly variables: readonly Declaration[];
  readonly functions: readonly Declaration[];
  readonly resources: readonly Declaration[];
  readonly modules: readonly Declaration[];
  readonly outputs: readonly Declaration[];
}

export const mainPath = 'bicep/main.bicep';

/** All `.bicep` and `.bicepparam` files as they stand. */
export function readProject(): Project {
  const paths = readdirSync(join(projectRoot, 'bicep'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.bicep(param)?$/.test(name))
    .map((name) => posix.join('bicep', name.replaceAll('\\', '/')))
    .sort();
  return new Map(paths.map((path) => [path, readFileSync(join(projectRoot, path), 'utf8')]));
}

export const templatesOf = (project: Project): readonly string[] =>
  [...project.keys()].filter((path) => path.endsWith('.bicep'));

export const parameterFilesOf = (project: Project): readonly string[] =>
  [...project.keys()].filter((path) => path.endsWith('.bicepparam'));

export const rootIn = (project: Project, path: string): Node => rootOf(path, project.get(path) ?? '');

const kinds = {
  parameter_declaration: 'params',
  variable_declaration: 'variables',
  user_defined_function: 'functions',
  resource_declaration: 'resources',
  module_declaration: 'modules',
  output_declaration: 'outputs',
} as const;

const known = new WeakMap<Node, Declarations>();

/** What a file declares at its top. */
export function declarationsIn(project: Project, path: string): Declarations {
  const root = rootIn(project, path);
  const declarations = known.get(root) ?? readDeclarations(root);
  known.set(root, declarations);
  return declarations;
}

function readDeclarations(root: Node): Declarations {
  const found = {
    params: [] as Declaration[],
    variables: [] as Declaration[],
    functions: [] as Declaration[],
    resources: [] as Declaration[],
    modules: [] as Declaration[],
    outputs: [] as Declaration[],
  };
  let decorators: Node[] = [];
  for (const node of root.namedChildren) {
    if (node.type === 'decorators')
      decorators = node.namedChildren.flatMap(({ namedChildren }) => namedChildren);
    const kind = kinds[node.type as keyof typeof kinds];
    if (kind === undefined) continue;
    found[kind].push(declarationOf(node, decorators));
    decorators = [];
  }
  return found;
}

function declarationOf(node: Node, decorators: readonly Node[]): Declaration {
  const name = node.namedChildren.find(({ type }) => type === 'identifier')?.text ?? '';
  return { name, node, value: innermost(node.namedChildren.at(-1)), decorators };
}

/** The declaration of that name, whatever its kind. */
export function declared(project: Project, path: string, name: string): Declaration | undefined {
  return Object.values(declarationsIn(project, path))
    .flat()
    .find((each) => each.name === name);
}

/** `Microsoft.X/y@version` of a resource, or the path of a module as it is written. */
export const referenceOf = ({ node }: Declaration): string =>
  plainString(node.namedChildren.find(({ type }) => type === 'string')) ?? '';

/** The file of a module, from the project's root. */
export const moduleFileOf = (path: string, module: Declaration): string =>
  posix.join(posix.dirname(path), referenceOf(module));

/** The arguments of a decorator, when it stands there. */
export function decoratorOf({ decorators }: Declaration, name: string): readonly Node[] | undefined {
  const call = decorators.find((each) => each.childForFieldName('function')?.text === name);
  return call === undefined ? undefined : (call.childForFieldName('arguments')?.namedChildren ?? []);
}

/** A check that looks at one file alone, and at the same text only once. */
export function remembered(check: (project: Project, path: string) => Fault[]): typeof check {
  const results = new WeakMap<Node, Fault[]>();
  return (project, path) => {
    const root = rootIn(project, path);
    const faults = results.get(root) ?? check(project, path);
    results.set(root, faults);
    return faults;
  };
}
