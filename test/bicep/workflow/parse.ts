// Reads an expression of Azure's workflow definition language into a tree.

export type Node =
  | { readonly kind: 'literal'; readonly value: unknown }
  | { readonly kind: 'call'; readonly name: string; readonly given: readonly Node[] }
  | { readonly kind: 'at'; readonly of: Node; readonly key: Node; readonly lenient: boolean };

const token = /\s*(?:'((?:[^']|'')*)'|(-?\d+(?:\.\d+)?)|([A-Za-z_]\w*)|(\?\[|[[\](),]))/y;

interface Token {
  readonly literal?: { readonly value: unknown };
  readonly name?: string;
  readonly sign?: string;
}

function tokensOf(expression: string): Token[] {
  const tokens: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < expression.length) {
    const from = token.lastIndex;
    const [, quoted, number, name, sign] = token.exec(expression) ?? [];
    if (quoted !== undefined) tokens.push({ literal: { value: quoted.replaceAll("''", "'") } });
    else if (number !== undefined) tokens.push({ literal: { value: Number(number) } });
    else if (name !== undefined) tokens.push({ name });
    else if (sign !== undefined) tokens.push({ sign });
    else throw new SyntaxError(`not an expression, from ${from} on: ${expression.slice(from, from + 40)}`);
  }
  return tokens;
}

const constants: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** @throws SyntaxError */
export function parseExpression(expression: string): Node {
  const tokens = tokensOf(expression);
  const [node, rest] = value(tokens);
  if (rest.length > 0) throw new SyntaxError(`more than one expression: ${expression.slice(0, 80)}`);
  return node;
}

type Parsed = readonly [Node, readonly Token[]];

function value(tokens: readonly Token[]): Parsed {
  const [first, ...rest] = tokens;
  if (first?.literal !== undefined) return accessed({ kind: 'literal', value: first.literal.value }, rest);
  if (first?.name === undefined) throw new SyntaxError('a value was expected');
  if (constants.has(first.name)) return [{ kind: 'literal', value: constants.get(first.name) }, rest];
  const [given, after] = list(expected(rest, '('), []);
  return accessed({ kind: 'call', name: first.name, given }, after);
}

function list(tokens: readonly Token[], so: readonly Node[]): readonly [readonly Node[], readonly Token[]] {
  if (tokens[0]?.sign === ')' && so.length === 0) return [so, tokens.slice(1)];
  const [node, rest] = value(tokens);
  if (rest[0]?.sign === ',') return list(rest.slice(1), [...so, node]);
  return [[...so, node], expected(rest, ')')];
}

function accessed(of: Node, tokens: readonly Token[]): Parsed {
  const sign = tokens[0]?.sign;
  if (sign !== '[' && sign !== '?[') return [of, tokens];
  const [key, rest] = value(tokens.slice(1));
  return accessed({ kind: 'at', of, key, lenient: sign === '?[' }, expected(rest, ']'));
}

function expected(tokens: readonly Token[], sign: string): readonly Token[] {
  if (tokens[0]?.sign !== sign) throw new SyntaxError(`${sign} was expected`);
  return tokens.slice(1);
}

/** Every node of the tree. */
export function* nodesOf(node: Node): Generator<Node> {
  yield node;
  if (node.kind === 'call') for (const one of node.given) yield* nodesOf(one);
  if (node.kind === 'at') {
    yield* nodesOf(node.of);
    yield* nodesOf(node.key);
  }
}
