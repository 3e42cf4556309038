// The definition of the relay: takes a record, makes a card of it, posts it to Teams, and answers what became of it.

import { blockInputs, cardInputs, lineInputs, messageInputs, portalInputs, timeInputs } from './card.ts';
import { harmless } from './escape.ts';
import { and, call, equals, evaluated, isOneOf, not, or, orElse, record, text } from './expression.ts';
import { factInputs } from './facts.ts';
import { phraseInputs, plainName, read, readingInputs, resources } from './reading.ts';
import { kindByType } from './record-types.ts';
import { triggerSchema } from './trigger-schema.ts';
import { colors, impacts, inferences, states } from './words.ts';

type Json = Readonly<Record<string, unknown>>;

const after = (action: string, ...statuses: readonly string[]): Json => ({
  runAfter: { [action]: statuses.length === 0 ? ['Succeeded'] : statuses },
});

const allDone = (...actions: readonly string[]): Json => ({
  runAfter: Object.fromEntries(actions.map((action) => [action, ['Succeeded']])),
});

// Records name machines and what befalls them: the run history is open to more people than the trail. What hides its
// inputs does not hide its outputs by that; of Compose there is nothing but inputs to hide.
// Source: learn.microsoft.com, "Secure access and data in Azure Logic Apps", on secure inputs and outputs.
const hidden = (...sides: readonly string[]): Json => ({
  runtimeConfiguration: { secureData: { properties: sides } },
});

const compose = (inputs: unknown, order: Json = { runAfter: {} }): Json => ({
  type: 'Compose',
  inputs,
  ...hidden('inputs'),
  ...order,
});

const select = (from: string, item: unknown, order: Json): Json => ({
  type: 'Select',
  inputs: { from, select: item },
  ...hidden('inputs', 'outputs'),
  ...order,
});

const filter = (from: string, where: string, order: Json): Json => ({
  type: 'Query',
  inputs: { from, where },
  ...hidden('inputs', 'outputs'),
  ...order,
});

const answer = (statusCode: unknown, status: string, order: Json, headers?: Json): Json => ({
  type: 'Response',
  kind: 'Http',
  inputs: { statusCode, ...(headers === undefined ? {} : { headers }), body: { status } },
  ...order,
});

// Both bound the card: with all facts and lines at their longest it stays below the 20,000 bytes that Teams takes.
const valueLengthMax = 240;
const lineLengthMax = 700;

const isInList = (parameter: string, value: string): string =>
  or(
    equals(call('length', call('parameters', text(parameter))), '0'),
    call('contains', call('parameters', text(parameter)), value),
  );

/** A trial is always posted: whoever makes one wants to see it. */
const isWanted = or(
  equals(read('kind'), text('test')),
  and(
    not(equals(read('kind'), text('other'))),
    isInList('transitions', read('kind')),
    isInList('eventTypes', call('toLower', read('eventType'))),
    call('greaterOrEquals', orElse(record('severitynumber'), '0'), "parameters('minimumSeverityNumber')"),
  ),
);

/** What is said, before it is a card. */
const contentActions = (): Json => ({
  Phrases: compose(phraseInputs),
  Times: compose(timeInputs),
  Other_VMs: filter(
    "@body('VMs')",
    evaluated(not(equals(call('toLower', 'item()'), call('toLower', read('vm'))))),
    { runAfter: {} },
  ),
  Lines: compose(lineInputs, allDone('Other_VMs', 'Phrases')),
  Harmless_lines: select("@outputs('Lines')", evaluated(harmless('item()', lineLengthMax)), after('Lines')),
  Facts: compose(factInputs, allDone('Other_VMs', 'Phrases')),
  Facts_that_say_something: filter("@outputs('Facts')", "@not(equals(item()?['value'], ''))", after('Facts')),
  Harmless_facts: select(
    "@body('Facts_that_say_something')",
    { title: "@item()?['title']", value: evaluated(harmless("item()?['value']", valueLengthMax)) },
    after('Facts_that_say_something'),
  ),
});

const cardActions = (): Json => ({
  Portal: compose(portalInputs),
  Blocks: compose(blockInputs, allDone('Harmless_lines', 'Harmless_facts', 'Times')),
  Blocks_that_say_something: filter(
    "@outputs('Blocks')",
    "@not(equals(item()?['text'], ''))",
    after('Blocks'),
  ),
  Card: compose(cardInputs, after('Blocks_that_say_something')),
  Message: compose(messageInputs, allDone('Card', 'Portal')),
});

const teamsStatus = orElse("outputs('Post_to_Teams')?['statusCode']", '0');

const postActions = (): Json => ({
  Post_to_Teams: {
    type: 'Http',
    inputs: {
      method: 'POST',
      uri: "@parameters('teamsWorkflowUrl')",
      headers: { 'content-type': 'application/json' },
      body: "@outputs('Message')",
      // The bridge keeps the record until this workflow says that it arrived, and tries again by itself: a second try
      // from here, after the bridge gave up waiting, would post the card twice.
      retryPolicy: { type: 'none' },
    },
    // Shorter than the bridge waits for an answer.
    limit: { timeout: 'PT10S' },
    // A 202 with a place to ask at is an answer, not a question.
    operationOptions: 'DisableAsyncPattern',
    // The address is a secret, and what Teams answers may quote it.
    ...hidden('inputs', 'outputs'),
    ...after('Message'),
  },
  Answer_posted: answer(200, 'posted', after('Post_to_Teams')),
  Answer_refused: answer(
    evaluated(
      `if(${isOneOf(call('string', teamsStatus), '400', '413')}, 422, if(${equals(teamsStatus, '429')}, 429, 503))`,
    ),
    'refused by Teams',
    after('Post_to_Teams', 'Failed', 'TimedOut'),
    { 'Retry-After': evaluated(orElse("outputs('Post_to_Teams')?['headers']?['Retry-After']", text('60'))) },
  ),
  // The answer went well, the run did not: only a failed run raises the alert.
  Fail_the_run: {
    type: 'Terminate',
    inputs: {
      runStatus: 'Failed',
      runError: {
        code: 'TeamsRefused',
        message: evaluated(
          `concat('Teams answered ', ${call('string', teamsStatus)}, ' to record ', ${orElse(record('id'), text('?'))})`,
        ),
      },
    },
    ...after('Answer_refused', 'Succeeded', 'Failed'),
  },
});

const parameters: Json = {
  // Set by the deployment; this type keeps it out of what anyone can read.
  teamsWorkflowUrl: { type: 'SecureString' },
  transitions: { type: 'Array', defaultValue: [] },
  eventTypes: { type: 'Array', defaultValue: [] },
  minimumSeverityNumber: { type: 'Int', defaultValue: 0 },
};

/** The definition, whole. */
export const workflowDefinition = (): Json => ({
  $schema:
    'https://schema.management.azure.com/providers/Microsoft.Logic/schemas/2016-06-01/workflowdefinition.json#',
  contentVersion: '1.0.0.0',
  parameters,
  triggers: {
    record: {
      type: 'Request',
      kind: 'Http',
      inputs: { method: 'POST', schema: triggerSchema() },
      // Without it the schema only feeds the designer.
      operationOptions: 'EnableSchemaValidation',
      ...hidden('outputs'),
    },
  },
  actions: {
    Words: compose({ kinds: kindByType(), states, colors, impacts, inferences }),
    VMs: select(evaluated(resources), evaluated(plainName), { runAfter: {} }),
    Reading: compose(readingInputs, allDone('Words', 'VMs')),
    If_somebody_wants_it: {
      type: 'If',
      // The designer shows conditions of this form alone.
      expression: { and: [{ equals: [evaluated(isWanted), true] }] },
      actions: { ...contentActions(), ...cardActions(), ...postActions() },
      else: { actions: { Answer_skipped: answer(200, 'skipped', { runAfter: {} }) } },
      ...after('Reading'),
    },
  },
  outputs: {},
});
