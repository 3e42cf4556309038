// The schema of the relay's trigger: made from that of records, in words that Logic Apps knows, and of the same opinion.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { workflowFile } from '../../scripts/docs.ts';
import { agentRecord, type BridgeRecord, encodeRecord } from '../../src/core/record.ts';
import { recordSchemas } from '../../src/core/record-schema.ts';
import { sampleAgentRecord, sampleRecord } from '../support/records.ts';
import { projectRoot } from '../support/source-files.ts';
import { stamp, storyBeginsAt } from '../support/story.ts';
import { relayRecords } from './relay-records.ts';
import { type Node, nodesOf, parseExpression } from './workflow/parse.ts';
import type { Definition } from './workflow/run.ts';

const file = readFileSync(join(projectRoot, 'bicep/relay/workflow.json'), 'utf8');
const definition = JSON.parse(file) as Definition;

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [word: string]: unknown;
}

const schema = definition.triggers['record']?.inputs['schema'] as Schema;

function validatorOf(given: object): ValidateFunction {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(given);
}

const requiredBy = (given: unknown): readonly string[] =>
  (given as { readonly required: readonly string[] }).required;

const trigger = validatorOf(schema);
const published = validatorOf(recordSchemas()['record.v1.schema.json'] ?? {});

const faultsIn = (validate: ValidateFunction, value: unknown): readonly string[] =>
  validate(value)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

const received = (record: BridgeRecord): Record<string, unknown> =>
  JSON.parse(encodeRecord(record).toString());

it('is what `npm run docs` writes', () => {
  expect(file).toBe(workflowFile());
});

describe('the schema of the trigger', () => {
  it.each(relayRecords())('takes a record: %s', (_, record) => {
    expect(faultsIn(trigger, received(record))).toEqual([]);
  });

  it('takes what agents say of themselves, and types of later versions', () => {
    const started = agentRecord('started', storyBeginsAt, {}, stamp);
    const later = {
      ...received(sampleRecord()),
      type: 'io.github.scheduled-events-bridge.impact.measured.v1',
    };
    for (const record of [sampleAgentRecord(), started].map(received))
      expect(faultsIn(trigger, record)).toEqual([]);
    expect(faultsIn(trigger, { ...later, data: { seconds: 5 } })).toEqual([]);
  });

  const good = received(sampleRecord());
  const data = good['data'] as Readonly<Record<string, unknown>>;
  const event = data['event'] as Readonly<Record<string, unknown>>;
  const without = (object: object, name: string) =>
    Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));

  const bad: readonly (readonly [string, unknown])[] = [
    ['no object', 'record'],
    ['a list', [good]],
    ['nothing', null],
    ...requiredBy(recordSchemas()['record.v1.schema.json']).map(
      (name) => [`no ${name}`, without(good, name)] as const,
    ),
    ...requiredBy(recordSchemas()['event.v1.schema.json']).map(
      (name) => [`no data.${name}`, { ...good, data: without(data, name) }] as const,
    ),
    ...Object.keys(event).map(
      (name) =>
        [`no data.event.${name}`, { ...good, data: { ...data, event: without(event, name) } }] as const,
    ),
    ['another severity', { ...good, severitynumber: 10 }],
    ['a severity in words', { ...good, severitynumber: 'WARN' }],
    ['another version of CloudEvents', { ...good, specversion: '0.3' }],
    ['an unknown transition', { ...good, data: { ...data, transition: 'paused' } }],
    ['a number for a text', { ...good, data: { ...data, event: { ...event, eventType: 7 } } }],
    ['a text for a list', { ...good, data: { ...data, event: { ...event, resources: 'WestNO_0' } } }],
    ['a negative length', { ...good, data: { ...data, event: { ...event, durationSeconds: -1 } } }],
    ['a time that is a number', { ...good, data: { ...data, event: { ...event, notBefore: 5 } } }],
  ];

  it.each(bad)('refuses what the published schema refuses: %s', (_, value) => {
    expect(faultsIn(published, value)).not.toEqual([]);
    expect(faultsIn(trigger, value)).not.toEqual([]);
  });

  it('is written in words that Logic Apps and its designer know, without references and formats', () => {
    const allowed = [
      'type',
      'properties',
      'items',
      'required',
      'enum',
      'minLength',
      'minimum',
      'description',
    ];
    const { anyOf, ...rest } = schema;
    expect(wordsIn(rest).filter((word) => !allowed.includes(word))).toEqual([]);
    expect(anyOf).toHaveLength(2);
  });
});

function wordsIn(given: Schema): string[] {
  const { properties = {}, items } = given;
  const below = [...Object.values(properties), ...(items === undefined ? [] : [items as Schema])];
  return [...Object.keys(given), ...below.flatMap(wordsIn)];
}

describe('the workflow', () => {
  it('asks the record for nothing that its schema does not have', () => {
    const asked = [...new Set(expressionsIn(definition).flatMap(recordPathsIn))];
    expect(asked.length).toBeGreaterThan(25);
    expect(asked.filter((path) => !has(schema, path.split('.')))).toEqual([]);
  });

  it('has no expression longer than the 8,192 characters that Logic Apps reads', () => {
    const lengths = expressionsIn(definition).map(({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThan(8_192);
  });

  it('asks each action for what that action comes before it', () => {
    const names = expressionsIn(definition).flatMap((expression) =>
      [...nodesOf(parseExpression(expression))].flatMap(actionNamedBy),
    );
    const actions = JSON.stringify(definition);
    for (const name of new Set(names)) expect(actions).toContain(`"${name}":`);
  });

  it('keeps the address of the Teams workflow, and what Teams answers, out of the run history', () => {
    expect(definition.parameters['teamsWorkflowUrl']).toEqual({ type: 'SecureString' });
    const users = Object.entries(actionsIn(definition.actions)).filter(([, { inputs }]) =>
      JSON.stringify(inputs ?? '').includes('teamsWorkflowUrl'),
    );
    expect(users).toEqual([
      ['Post_to_Teams', expect.objectContaining({ runtimeConfiguration: hidden, type: 'Http' })],
    ]);
  });
});

describe('the run history', () => {
  const sidesOf = (action: object) =>
    (action as { runtimeConfiguration?: { secureData: { properties: readonly string[] } } })
      .runtimeConfiguration?.secureData.properties ?? [];
  const wanted: Readonly<Record<string, readonly string[]>> = {
    Compose: ['inputs'],
    Http: ['inputs', 'outputs'],
    Query: ['inputs', 'outputs'],
    Select: ['inputs', 'outputs'],
  };

  it('shows no record and no card', () => {
    for (const [name, action] of Object.entries(actionsIn(definition.actions)))
      expect(sidesOf(action), name).toEqual(wanted[action.type] ?? []);
    expect(sidesOf(definition.triggers['record'] ?? {})).toEqual(['outputs']);
  });

  it('shows of what is not hidden no more than the id of the record and the status of Teams', () => {
    const open = Object.values(actionsIn(definition.actions)).filter(
      ({ type }) => wanted[type] === undefined,
    );
    const read = open.flatMap(({ inputs }) => expressionsIn(inputs).flatMap(recordPathsIn));
    expect([...new Set(read)]).toEqual(['id']);
  });
});

const hidden = { secureData: { properties: ['inputs', 'outputs'] } };

type Actions = Definition['actions'];

const actionsIn = (actions: Actions): Actions => ({
  ...actions,
  ...Object.fromEntries(
    Object.values(actions).flatMap((action) =>
      Object.entries(actionsIn({ ...action.actions, ...action.else?.actions })),
    ),
  ),
});

function expressionsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.startsWith('@') ? [value.slice(1)] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(expressionsIn) : [];
}

/** The properties of the record that an expression reads, such as `data.event.eventType`. */
function recordPathsIn(expression: string): string[] {
  const nodes = [...nodesOf(parseExpression(expression))];
  const inner = new Set(nodes.flatMap((node) => (node.kind === 'at' ? [node.of] : [])));
  return nodes
    .filter((node) => !inner.has(node))
    .flatMap((node) => pathOf(node) ?? [])
    .filter((path) => path !== '');
}

/** Undefined for what does not begin with the record. */
function pathOf(node: Node): string | undefined {
  if (node.kind === 'call') return node.name === 'triggerBody' ? '' : undefined;
  if (node.kind === 'literal') return undefined;
  const before = pathOf(node.of);
  if (before === undefined || node.key.kind !== 'literal') return undefined;
  return before === '' ? String(node.key.value) : `${before}.${String(node.key.value)}`;
}

function has(given: Schema, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return true;
  const property = given.properties?.[first];
  return property !== undefined && has(property, rest);
}

function actionNamedBy(node: Node): string[] {
  const [first] = node.kind === 'call' && ['outputs', 'body'].includes(node.name) ? node.given : [];
  return first?.kind === 'literal' ? [String(first.value)] : [];
}
