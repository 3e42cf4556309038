// The settings of the agent: their defaults and bounds, and what is said of those that cannot be meant.
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { agentSchema } from '../../src/config/agent.ts';
import { parseConfiguration } from '../../src/config/load.ts';

const schema = agentSchema(z.strictObject({ type: z.literal('stdout') }));
const faultsOf = (settings: unknown): string[] =>
  schema.safeParse(settings).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

const day = 86_400_000;

describe('the settings of the agent', () => {
  test('are the documented ones when nothing is given', () => {
    expect(schema.parse({})).toEqual({
      stateDir: '/var/lib/scheduled-events-bridge',
      imds: {
        endpoint: 'http://169.254.169.254',
        apiVersion: '2020-07-01',
        pollInterval: 1000,
        firstTimeout: 125_000,
        timeout: 10_000,
      },
      sinks: {},
      outbox: { sizeMax: 100 * 1024 * 1024, keepDelivered: day, keepDead: 30 * day },
      heartbeatInterval: 3_600_000,
      approval: { enabled: false, rules: [], deliveryTimeout: 60_000, secondAfter: 120_000 },
      hooks: [],
      impact: {},
      log: { level: 'info' },
    });
  });

  test('are taken as they are given', () => {
    const given = {
      stateDir: './state',
      imds: { endpoint: 'http://127.0.0.1:8080/vm-1/', apiVersion: '2019-08-01', pollInterval: '250ms' },
      sinks: { console: { type: 'stdout' }, 'console-2': { type: 'stdout' } },
      log: { level: 'silent' },
    };
    expect(schema.parse(given)).toMatchObject({
      stateDir: './state',
      imds: { endpoint: 'http://127.0.0.1:8080/vm-1', apiVersion: '2019-08-01', pollInterval: 250 },
      sinks: { console: { type: 'stdout' }, 'console-2': { type: 'stdout' } },
      log: { level: 'silent' },
    });
  });

  test.each<[string, object, string]>([
    [
      'polls more often than IMDS allows',
      { imds: { pollInterval: '249ms' } },
      'imds.pollInterval: Must be between 250ms and 60s',
    ],
    [
      'polls too seldom to see a Preempt',
      { imds: { pollInterval: '61s' } },
      'imds.pollInterval: Must be between 250ms and 60s',
    ],
    [
      'asks over TLS',
      { imds: { endpoint: 'https://169.254.169.254' } },
      'imds.endpoint: Expected a URL such as http://169.254.169.254',
    ],
    [
      'asks a file',
      { imds: { endpoint: 'file:///etc/passwd' } },
      'imds.endpoint: Expected a URL such as http://169.254.169.254',
    ],
    [
      'asks nobody',
      { imds: { endpoint: '' } },
      'imds.endpoint: Expected a URL such as http://169.254.169.254',
    ],
    [
      'asks with a query',
      { imds: { endpoint: 'http://127.0.0.1/?a' } },
      'imds.endpoint: Expected a host and perhaps a path: no user, query or fragment',
    ],
    [
      'asks with a fragment',
      { imds: { endpoint: 'http://127.0.0.1/#a' } },
      'imds.endpoint: Expected a host and perhaps a path: no user, query or fragment',
    ],
    [
      'asks as a user',
      { imds: { endpoint: 'http://u:p@127.0.0.1' } },
      'imds.endpoint: Expected a host and perhaps a path: no user, query or fragment',
    ],
    [
      'asks a URL without slashes',
      { imds: { endpoint: 'http:127.0.0.1' } },
      'imds.endpoint: Expected a host and perhaps a path: no user, query or fragment',
    ],
    [
      'wants the latest version',
      { imds: { apiVersion: 'latest' } },
      'imds.apiVersion: Expected a version such as 2020-07-01',
    ],
    ['keeps nothing', { stateDir: '' }, 'stateDir: Too small: expected string to have >=1 characters'],
    ['has no room', { outbox: { sizeMax: '1023KiB' } }, 'outbox.sizeMax: Must be between 1MiB and 10GiB'],
    ['names a sink in capitals', { sinks: { Ops: { type: 'stdout' } } }, 'sinks.Ops: Invalid key in record'],
    [
      'names a sink with a digit first',
      { sinks: { '1': { type: 'stdout' } } },
      'sinks.1: Invalid key in record',
    ],
    [
      'names a setting that there is not',
      { imds: { pollIntervall: '1s' } },
      'imds: Unrecognized key: "pollIntervall"',
    ],
  ])('of an agent that %s are refused', (_what, settings, fault) => {
    expect(faultsOf(settings)).toEqual([fault]);
  });
});

test.each<[string, object, object]>([
  ['without an address', {}, { host: '127.0.0.1', port: 9464 }],
  ['with a port alone', { listen: 19_464 }, { host: '127.0.0.1', port: 19_464 }],
  ['open to a network', { listen: '0.0.0.0:9464' }, { host: '0.0.0.0', port: 9464 }],
])('the status page may be asked for %s', (_how, status, listen) => {
  expect(schema.parse({ status }).status).toEqual({ listen });
});

test('without being asked for there is no status page', () => {
  expect(schema.parse({})).not.toHaveProperty('status');
});

test.each(['trace', 'debug', 'info', 'warn', 'error', 'silent'])('the log may be at %s', (level) => {
  expect(schema.parse({ log: { level } }).log).toEqual({ level });
});

describe('the name of a sink', () => {
  const attempt = (name: string) => () =>
    parseConfiguration(JSON.stringify({ sinks: { [name]: { type: 'stdout' } } }), 'agent.yaml', schema);

  test.each(['a', 'ops-2', `a${'b'.repeat(62)}`])('may be %s', (name) => {
    expect(Object.keys(attempt(name)().sinks)).toEqual([name]);
  });

  test.each(['', '2ops', '-ops', 'Ops', 'o.ps'])('may not be "%s"', (name) => {
    expect(attempt(name)).toThrow(`sinks.${name}: A sink is named with a-z, 0-9 and "-"`);
  });

  test.each(['ops ', `a${'b'.repeat(63)}`])('may not be "%s", which might be a secret', (name) => {
    expect(attempt(name)).toThrow('sinks.…: A sink is named with a-z, 0-9 and "-"');
  });
});
