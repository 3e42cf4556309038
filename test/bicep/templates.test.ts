// Whether the Bicep files can be read, fit together, and hold what the requirements say: without Azure's own compiler.
import { describe, expect, it } from 'vitest';
import { at, bodyOf, scopeOf, type Value } from './support/evaluate.ts';
import { allFaults } from './support/faults.ts';
import { resourceNames } from './support/hardening.ts';
import { mainPath, parameterFilesOf, readProject } from './support/project.ts';

const project = readProject();
const moduleNamed = (name: string): string => `bicep/modules/${name}.bicep`;
const privateNetwork = [
  'virtualNetworkResourceId',
  'privateEndpointSubnetResourceId',
  'consumerSubnetResourceId',
];
const unique = /[a-z0-9]{11}$/;

describe('the Bicep files', () => {
  it('can be read, fit together, and keep to every rule', () => {
    expect(allFaults(project)).toEqual([]);
  });

  it.each(['se', 'seb', 'abcdefgh'])('make names that Azure takes, from the prefix %s', (prefix) => {
    const { namespace, checkpoints, audit, postgres, app } = resourceNames(project, prefix);
    expect(namespace).toMatch(/^[a-z][a-z0-9-]{4,48}[a-z0-9]$/);
    expect(checkpoints).toMatch(/^[a-z0-9]{3,24}$/);
    expect(audit).toMatch(/^[a-z0-9]{3,24}$/);
    expect(postgres).toMatch(/^[a-z][a-z0-9-]{1,61}[a-z0-9]$/);
    expect(app).toMatch(/^[a-z][a-z0-9-]{0,30}[a-z0-9]$/);
    // Each of them is one name in all of Azure.
    for (const name of [namespace, checkpoints, audit, postgres]) expect(name).toMatch(unique);
  });

  it('declare the same columns in the table and in the rule, each in the spelling of its own', () => {
    const table = at(bodyOf(project, moduleNamed('logs'), 'table'), 'properties', 'schema', 'columns');
    const streams = at(bodyOf(project, moduleNamed('logs'), 'rule'), 'properties', 'streamDeclarations');
    const stream = at(streams, 'Custom-ScheduledEvents_CL', 'columns');
    const columnsOf = (value: Value) =>
      (Array.isArray(value) ? value : []).map((column: Value) => [at(column, 'name'), at(column, 'type')]);
    expect(columnsOf(table)).toContainEqual(['TimeGenerated', 'dateTime']);
    expect(columnsOf(stream)).toContainEqual(['TimeGenerated', 'datetime']);
    const spelled = columnsOf(table).map(([name, type]) => [name, type === 'dateTime' ? 'datetime' : type]);
    expect(columnsOf(stream)).toEqual(spelled);
  });

  it('let alerts come for Capture and for a consumer only where there is one', () => {
    const ruleNames = (given: Readonly<Record<string, Value>>) => {
      const rules = bodyOf(project, moduleNamed('alerts'), 'metricRules', { prefix: 'seb', ...given });
      return (Array.isArray(rules) ? rules : []).map((rule: Value) => String(at(rule, 'name')));
    };
    const few = ruleNames({ withCapture: false, consumerResourceId: '' });
    const all = ruleNames({ withCapture: true, consumerResourceId: '/app' });
    expect(few).toContain('seb-hub-silent');
    expect(all.filter((name) => !few.includes(name))).toEqual([
      'seb-capture-behind',
      'seb-consumer-away',
      'seb-consumer-restarts',
    ]);
  });

  it('close the public way by default once there are private endpoints', () => {
    const access = (enablePrivateEndpoints: boolean) =>
      scopeOf(project, mainPath, { enablePrivateEndpoints })['allowPublicNetworkAccess'];
    expect(
      [access(false), access(true)].map((value) => (typeof value === 'function' ? value() : value)),
    ).toEqual([true, false]);
  });

  it.each(parameterFilesOf(project))('have an example that leaves nothing out: %s', (path) => {
    const given = scopeOf(project, path);
    const givenTo = (name: string): Value => {
      const value = given[name] ?? null;
      return typeof value === 'function' ? value() : value;
    };
    const needed = givenTo('enablePrivateEndpoints') === true ? privateNetwork : [];
    expect(needed.filter((name) => !String(givenTo(name)).startsWith('/subscriptions/'))).toEqual([]);
    expect(givenTo('consumerImage') ?? '@sha256:').toContain('@sha256:');
    expect(givenTo('auditPolicyLocked') ?? false).toBe(false);
  });

  it('make one consumer while the trail is a file, and one for each partition at most when it is shared', () => {
    const replicas = (given: Readonly<Record<string, Value>>) => {
      const params = at(bodyOf(project, mainPath, 'consumer', { partitionCount: 16, ...given }), 'params');
      return [at(params, 'minReplicas'), at(params, 'maxReplicas')];
    };
    const most = { consumerReplicasMin: 32, consumerReplicasMax: 32 };
    expect(replicas({ trailStore: 'sqlite', ...most })).toEqual([1, 1]);
    expect(replicas({ trailStore: 'postgres' })).toEqual([2, 16]);
    expect(replicas({ trailStore: 'postgres', ...most })).toEqual([16, 16]);
    expect(replicas({ trailStore: 'postgres', consumerReplicasMax: 3 })).toEqual([2, 3]);
  });

  it('give a private endpoint to the namespace and to both storage accounts, and to the database if there is one', () => {
    const endpoints = (trailStore: string) => {
      const body = bodyOf(project, mainPath, 'privateEndpoints', { trailStore, prefix: 'seb' });
      const all = at(body, 'params', 'endpoints');
      return (Array.isArray(all) ? all : []).map((each: Value) => [at(each, 'name'), at(each, 'groupId')]);
    };
    const always = [
      ['seb-events', 'namespace'],
      ['seb-checkpoints', 'blob'],
      ['seb-audit', 'blob'],
    ];
    expect(endpoints('sqlite')).toEqual(always);
    expect(endpoints('postgres')).toEqual([...always, ['seb-trail', 'postgresqlServer']]);
  });
});
