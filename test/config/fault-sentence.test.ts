// Whether a person who made a common mistake is told in plain words what stands wrong, and what was probably meant.
import { expect, test } from 'vitest';
import { ConfigurationError, parseConfiguration } from '../../src/config/load.ts';
import { agentSettings } from '../support/sink-kinds.ts';

const hook = (rest: string) => `sinks: { ops: { type: webhook, url: { file: /x }, ${rest} } }`;

function faultsIn(text: string): readonly string[] {
  try {
    parseConfiguration(text, 'agent.yaml', agentSettings);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
  return [];
}

test.each([
  ['a setting left out', 'sinks: { f: { type: file } }', 'sinks.f.path: This setting is needed'],
  [
    'a number for a text',
    'sinks: { f: { type: file, path: 7 } }',
    'sinks.f.path: Expected a text; numbers and dates need quotes to be one',
  ],
  ['one secret for a list', hook('secrets: { file: /x }'), 'sinks.ops.secrets: Expected a list'],
  ['a list for a mapping', 'sinks: [{ type: stdout }]', 'sinks: Expected a mapping, names with a value each'],
  [
    'a severity of another system',
    hook('filter: { minSeverity: warning }'),
    'sinks.ops.filter.minSeverity: Expected one of INFO, WARN, ERROR',
  ],
  ['a share as per cent', hook('filter: { sample: 5 }'), 'sinks.ops.filter.sample: Must be at most 1'],
  ['a share below nothing', hook('filter: { sample: -1 }'), 'sinks.ops.filter.sample: Must be at least 0'],
  ['an empty list', hook('filter: { types: [] }'), 'sinks.ops.filter.types: Must not be empty'],
  [
    'a list that is too long',
    hook(`secrets: [${Array(9).fill('{ file: /x }').join(', ')}]`),
    'sinks.ops.secrets: Must be at most 8 entries long',
  ],
  [
    'a name that is nearly one',
    hook('filter: { type: [Freeze] }'),
    'sinks.ops.filter: there is no setting "type" here; did you mean "types"?',
  ],
  [
    'a name of another program',
    hook('tls: { rejectUnauthorized: false }'),
    'sinks.ops.tls: there is no setting "rejectUnauthorized" here; there are caFile, certFile, keyFile, passphrase, serverName',
  ],
  [
    'a name that is nothing among very many',
    hook('whatever: 1'),
    'sinks.ops: there is no setting "whatever" here',
  ],
  [
    'a type that is nearly one',
    'sinks: { ops: { type: logicApps, url: { file: /x } } }',
    'sinks.ops.type: Expected a type of sink that there is: eventgrid, eventhubs, file, logicapps, slack, stdout, teams, webhook; did you mean "logicapps"?',
  ],
  [
    'a placeholder without quotes',
    hook('template: { text: {{ data.event.eventType }} }'),
    'sinks.ops.template.text: Put the {{ … }} into quotes: without them YAML reads the braces as a mapping',
  ],
  [
    'an identity beside a key',
    'sinks: { fleet: { type: eventhubs, eventHubName: x, connectionString: { file: /x }, clientId: 6f1b3c1e-0000-4000-8000-000000000000 } }',
    'sinks.fleet: clientId goes with fullyQualifiedNamespace: a connectionString signs in by itself',
  ],
])('%s is said in plain words', (_, text, fault) => {
  expect(faultsIn(text)).toEqual([fault]);
});
