// Writes expressions in the language of workflow definitions, in which the relay computes what its card says.
// Source: learn.microsoft.com, "Reference guide to workflow expression functions in Azure Logic Apps".

/** An expression without the `@` that begins it in a definition. */
export type Expression = string;

/** The expression as a definition holds it. */
export const evaluated = (expression: Expression): string => `@${expression}`;

export const text = (value: string): Expression => `'${value.replaceAll("'", "''")}'`;

export const call = (name: string, ...given: readonly Expression[]): Expression =>
  `${name}(${given.join(', ')})`;

/** A property, or null where anything on the way to it is missing. */
export const at = (value: Expression, path: string): Expression =>
  path.split('.').reduce((so, name) => `${so}?[${text(name)}]`, value);

/** A property whose name is computed. */
export const atComputed = (value: Expression, name: Expression): Expression => `${value}?[${name}]`;

/** A property of the record. */
export const record = (path: string): Expression => at('triggerBody()', path);

/** What an earlier action computed. */
export const outcome = (action: string, path: string): Expression => at(call('outputs', text(action)), path);

export const orElse = (value: Expression, other: Expression): Expression => call('coalesce', value, other);

/** A text, or an empty one. */
export const words = (value: Expression): Expression => orElse(value, text(''));

export const equals = (left: Expression, right: Expression): Expression => call('equals', left, right);
export const not = (value: Expression): Expression => call('not', value);
export const and = (...all: readonly Expression[]): Expression => call('and', ...all);
export const or = (...all: readonly Expression[]): Expression => call('or', ...all);
export const concat = (...all: readonly Expression[]): Expression => call('concat', ...all);
export const isEmpty = (value: Expression): Expression => equals(value, text(''));

/** Both results must be computable whatever the condition is: the service may compute them both. */
export const when = (condition: Expression, yes: Expression, no: Expression = text('')): Expression =>
  call('if', condition, yes, no);

/** Whether a text is one of those given. */
export const isOneOf = (value: Expression, ...given: readonly string[]): Expression =>
  call('contains', call('createArray', ...given.map(text)), value);

/** The texts that are not empty, with something between them. */
export const joined = (between: string, ...parts: readonly Expression[]): Expression => {
  const [last, ...before] = [...parts].reverse();
  if (last === undefined) return text('');
  return before.reduce((rest, part) => {
    const gap = when(or(isEmpty(part), isEmpty(rest)), text(''), text(between));
    return concat(part, gap, rest);
  }, last);
};
