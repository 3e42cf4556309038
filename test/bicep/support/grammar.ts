// Reads Bicep text with the tree-sitter grammar, and works around what that grammar does not know.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Language, type Node, Parser } from 'web-tree-sitter';

const require = createRequire(import.meta.url);
await Parser.init();
const parser = new Parser();
parser.setLanguage(
  await Language.load(
    join(dirname(require.resolve('tree-sitter-bicep/package.json')), 'tree-sitter-bicep.wasm'),
  ),
);

const read = new Map<string, Node>();

/** The root of the tree of a file; a parameter file is read as if it declared variables. */
export function rootOf(path: string, text: string): Node {
  const key = `${path}\n${text}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  // The grammar knows `param name type`, not the `param name = value` of parameter files.
  const readable = path.endsWith('.bicepparam') ? text.replace(/^param (\w+) =/gm, 'var   $1 =') : text;
  const tree = parser.parse(readable);
  if (tree === null) throw new Error(`${path} was not read`);
  read.set(key, tree.rootNode);
  return tree.rootNode;
}

export const lineOf = (node: Node): number => node.startPosition.row + 1;

/** The text of a string without interpolation; undefined for anything else. */
export function plainString(node: Node | undefined): string | undefined {
  if (node?.type !== 'string') return undefined;
  if (node.namedChildren.some(({ type }) => type === 'interpolation')) return undefined;
  return node.namedChildren.map(({ text }) => unescaped(text)).join('');
}

export const unescaped = (text: string): string =>
  text
    .replace(/\\(['\\$])/g, '$1')
    .replaceAll('\\n', '\n')
    .replaceAll('\\t', '\t');

/** The name of a property, when it is fixed. */
export function propertyName(property: Node): string | undefined {
  const name = property.namedChildren[0];
  return name?.type === 'string' ? plainString(name) : name?.text;
}

/** The value of a property of an object. */
export function propertyOf(object: Node | undefined, name: string): Node | undefined {
  return object?.namedChildren
    .find((child) => child.type === 'object_property' && propertyName(child) === name)
    ?.namedChildren.at(-1);
}

/** What stands behind loops and conditions. */
export function innermost(node: Node | undefined): Node | undefined {
  let inner = node;
  while (inner?.type === 'if_statement' || inner?.type === 'for_statement')
    inner = inner.namedChildren.at(-1);
  return inner;
}

/** Every node below, and the node itself. */
export function* nodesIn(node: Node): Generator<Node> {
  yield node;
  for (const child of node.namedChildren) yield* nodesIn(child);
}
