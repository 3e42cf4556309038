// The interpreter of workflow expressions: reads what the service's reference shows, and takes nothing for granted.
import { describe, expect, it } from 'vitest';
import { type Definition, runWorkflow } from './workflow/run.ts';

/** What an expression comes to, as the inputs of an action. */
async function resultOf(expression: string, trigger: unknown = {}): Promise<unknown> {
  const definition: Definition = {
    parameters: {},
    triggers: {},
    actions: { It: { type: 'Compose', inputs: `@${expression}` } },
  };
  return (await runWorkflow(definition, trigger, {})).results.get('It');
}

describe('an expression', () => {
  // The examples of learn.microsoft.com, "Reference guide to workflow expression functions in Azure Logic Apps".
  it.each([
    ["coalesce(null, 'hello', 'world')", 'hello'],
    ['coalesce(null, null, null)', null],
    ["concat('Hello', 'World')", 'HelloWorld'],
    ["contains('hello world', 'world')", true],
    ["createArray('h', 'e', 'l')", ['h', 'e', 'l']],
    ["decodeUriComponent('https%3A%2F%2Fcontoso.com')", 'https://contoso.com'],
    ['div(11,5)', 2],
    ["if(equals(1, 1), 'yes', 'no')", 'yes'],
    ["join(createArray('a', 'b', 'c'), '.')", 'a.b.c'],
    ['mod(3, 2)', 1],
    ["replace('the old string', 'old', 'new')", 'the new string'],
    ["startsWith('hello world', 'HELLO')", true],
    ["substring('hello world', 6, 5)", 'world'],
    ["take('abcde', 3)", 'abc'],
    ['take(createArray(0, 1, 2), 2)', [0, 1]],
    ["toLower('Hello World')", 'hello world'],
    ["uriComponent('https://contoso.com')", 'https%3A%2F%2Fcontoso.com'],
    ["formatDateTime('2018-03-15T13:27:36Z', 'yyyy-MM-ddTHH:mm:ss')", '2018-03-15T13:27:36'],
    ["concat('it''s', ' [1] (2), 3')", "it's [1] (2), 3"],
  ])('%s', async (expression, expected) => {
    expect(await resultOf(expression)).toEqual(expected);
  });

  it('reads a property of what is not there as null with a question mark, and fails without one', async () => {
    expect(await resultOf("triggerBody()?['a']?['b']", {})).toBeNull();
    expect(await resultOf("triggerBody()?['a']?['b']", { a: { b: 7 } })).toBe(7);
    await expect(resultOf("triggerBody()['a']", {})).rejects.toThrow('property a');
    await expect(resultOf("triggerBody()?['a']['b']", {})).rejects.toThrow('property b');
  });

  it.each([
    ["concat('a', null)", 'a text was expected'],
    ["length(triggerBody()?['a'])", 'a list was expected'],
    ["if('yes', 1, 2)", 'true or false was expected'],
    ['if(true, 1, div(1, 0))', 'division by zero'],
    ["formatDateTime('', 'yyyy')", 'not a time'],
    ["int('5.5')", 'a whole number was expected'],
    ["outputs('Nothing')", 'Nothing has not run yet'],
    ['nonsense(1)', 'no such function'],
    ["concat('a'", 'expected'],
    ["concat('a') 'b'", 'more than one'],
  ])('fails where the service may fail: %s', async (expression, problem) => {
    await expect(resultOf(expression)).rejects.toThrow(problem);
  });
});
