// Runs a workflow definition as the service would: action after action, its HTTP requests for real.
import { ExpressionFault, functions } from './functions.ts';
import { type Node, parseExpression } from './parse.ts';

type Json = Readonly<Record<string, unknown>>;

interface Action {
  readonly type: string;
  readonly inputs?: unknown;
  readonly runAfter?: Readonly<Record<string, readonly string[]>>;
  readonly expression?: { readonly and: readonly { readonly equals: readonly [unknown, unknown] }[] };
  readonly actions?: Actions;
  readonly else?: { readonly actions: Actions };
}

type Actions = Readonly<Record<string, Action>>;

export interface Definition {
  readonly parameters: Readonly<Record<string, { readonly type: string; readonly defaultValue?: unknown }>>;
  readonly triggers: Readonly<Record<string, Json & { readonly inputs: Json }>>;
  readonly actions: Actions;
}

/** What a run came to. */
export interface Run {
  readonly answers: readonly { readonly status: unknown; readonly body: unknown; readonly headers: Json }[];
  readonly status: 'Succeeded' | 'Failed';
  readonly results: ReadonlyMap<string, unknown>;
}

interface State {
  readonly trigger: unknown;
  readonly parameters: Json;
  readonly results: Map<string, unknown>;
  readonly statuses: Map<string, string>;
  readonly answers: { status: unknown; body: unknown; headers: Json }[];
  failed: boolean;
}

/** @throws ExpressionFault where the service would fail an action, and nobody handles that */
export async function runWorkflow(definition: Definition, trigger: unknown, parameters: Json): Promise<Run> {
  const defaults = Object.entries(definition.parameters).map(([name, { defaultValue }]) => [
    name,
    defaultValue,
  ]);
  const state: State = {
    trigger,
    parameters: { ...Object.fromEntries(defaults), ...parameters },
    results: new Map(),
    statuses: new Map(),
    answers: [],
    failed: false,
  };
  await runAll(definition.actions, state);
  return { answers: state.answers, status: state.failed ? 'Failed' : 'Succeeded', results: state.results };
}

async function runAll(actions: Actions, state: State): Promise<void> {
  const waiting = new Map(Object.entries(actions));
  for (let before = -1; waiting.size !== before; ) {
    before = waiting.size;
    for (const [name, action] of waiting) {
      const needs = Object.entries(action.runAfter ?? {});
      if (needs.some(([other]) => !state.statuses.has(other))) continue;
      waiting.delete(name);
      const isDue = needs.every(([other, wanted]) => wanted.includes(state.statuses.get(other) ?? ''));
      state.statuses.set(name, isDue ? await runOne(name, action, state) : 'Skipped');
      if (state.failed) return;
    }
  }
  if (waiting.size > 0) throw new ExpressionFault(`never due: ${[...waiting.keys()].join(', ')}`);
}

async function runOne(name: string, action: Action, state: State): Promise<string> {
  if (action.type === 'If') {
    const conditions = action.expression?.and ?? [];
    const isMet = conditions.every(({ equals: [left, right] }) => filled(left, state) === right);
    const branch = isMet ? action.actions : action.else?.actions;
    await runAll(branch ?? {}, state);
    return 'Succeeded';
  }
  if (action.type === 'Select' || action.type === 'Query') {
    state.results.set(name, { body: eachOf(action, state) });
    return 'Succeeded';
  }
  const inputs = filled(action.inputs, state);
  if (action.type === 'Http') return await posted(name, inputs as HttpInputs, state);
  state.results.set(name, inputs);
  if (action.type === 'Response') {
    const {
      statusCode,
      body,
      headers = {},
    } = inputs as { statusCode: unknown; body: unknown; headers?: Json };
    state.answers.push({ status: statusCode, body, headers });
  } else if (action.type === 'Terminate') {
    state.failed = (inputs as { runStatus: unknown }).runStatus === 'Failed';
  } else if (action.type !== 'Compose') throw new ExpressionFault(`no such action: ${action.type}`);
  return 'Succeeded';
}

function eachOf({ type, inputs }: Action, state: State): unknown[] {
  const { from, select, where } = inputs as { from: unknown; select?: unknown; where?: unknown };
  const list = filled(from, state);
  if (!Array.isArray(list)) throw new ExpressionFault(`${type} needs a list`);
  return type === 'Select'
    ? list.map((item) => filled(select, state, item))
    : list.filter((item) => filled(where, state, item) === true);
}

interface HttpInputs {
  readonly method: string;
  readonly uri: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

async function posted(
  name: string,
  { method, uri, headers, body }: HttpInputs,
  state: State,
): Promise<string> {
  const response = await fetch(uri, {
    method,
    headers,
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  }).catch(() => null);
  await response?.arrayBuffer();
  const names = ['Retry-After'].flatMap((header) => {
    const value = response?.headers.get(header) ?? null;
    return value === null ? [] : [[header, value]];
  });
  state.results.set(name, { statusCode: response?.status, headers: Object.fromEntries(names) });
  return response?.ok ? 'Succeeded' : 'Failed';
}

/** The inputs with every expression computed. */
function filled(value: unknown, state: State, item?: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, state, item));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        String(filled(name, state, item)),
        filled(one, state, item),
      ]),
    );
  if (typeof value !== 'string') return value;
  if (value.includes('@{')) throw new ExpressionFault('expressions within texts are not used here');
  return value.startsWith('@') ? computed(parsed(value.slice(1)), state, item) : value;
}

const trees = new Map<string, Node>();

/** Thousands of records meet the same expressions. */
function parsed(expression: string): Node {
  const tree = trees.get(expression) ?? parseExpression(expression);
  trees.set(expression, tree);
  return tree;
}

function computed(node: Node, state: State, item: unknown): unknown {
  if (node.kind === 'literal') return node.value;
  if (node.kind === 'at') return accessed(node, state, item);
  const given = node.given.map((one) => computed(one, state, item));
  const known = builtIn(node.name, given, state, item);
  if (known !== undefined) return known.value;
  const implementation = functions[node.name];
  if (implementation === undefined) throw new ExpressionFault(`no such function: ${node.name}`);
  return implementation(...given);
}

function builtIn(name: string, [first]: readonly unknown[], state: State, item: unknown) {
  const result = state.results.get(String(first));
  switch (name) {
    case 'triggerBody':
      return { value: state.trigger };
    case 'item':
      return { value: item };
    case 'parameters':
      return { value: state.parameters[String(first)] };
    case 'outputs':
    case 'body':
      if (!state.results.has(String(first))) throw new ExpressionFault(`${String(first)} has not run yet`);
      return { value: name === 'body' ? (result as { body: unknown }).body : result };
    default:
      return undefined;
  }
}

function accessed(node: Extract<Node, { kind: 'at' }>, state: State, item: unknown): unknown {
  const of = computed(node.of, state, item) ?? null;
  const key = computed(node.key, state, item);
  if (of === null) return node.lenient ? null : noSuch(key);
  if (typeof of !== 'object') return noSuch(key);
  const value = Object.hasOwn(of, String(key)) ? (of as Json)[String(key)] : undefined;
  return value === undefined && !node.lenient ? noSuch(key) : (value ?? null);
}

const noSuch = (key: unknown): never => {
  throw new ExpressionFault(`nothing has a property ${String(key)}`);
};
