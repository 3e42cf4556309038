// What relay, VM application, policy and previews take from elsewhere in the project: names, commands, paths, types.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixtureText } from '../support/documents.ts';
import { pageText } from '../support/markdown.ts';
import { sinkTypes } from '../support/sink-kinds.ts';
import { projectRoot } from '../support/source-files.ts';
import { at, bodyOf } from './support/evaluate.ts';
import { declared, readProject } from './support/project.ts';
import { moduleNamed } from './support/requirement.ts';

const project = readProject();
const fileText = (path: string): string => readFileSync(join(projectRoot, path), 'utf8');
const relay = moduleNamed('relay');
const application = moduleNamed('vm-application');
const access = moduleNamed('imds-access-control');
const preview = moduleNamed('event-grid-preview');
const policy = 'bicep/install-policy.bicep';

describe('the VM application', () => {
  it('has the commands and names that its own page gives', () => {
    const rows = new Map(
      [...pageText('infra/vm-application/README.md').matchAll(/^\| `([\w.]+)` \| `(.+)` \|$/gm)].map(
        ([, name = '', value = '']) => [name, value.replaceAll('\\|', '|')],
      ),
    );
    const body = bodyOf(project, application, 'release', { location: 'a', replicationRegions: [] });
    const places = [
      ...['packageFileName', 'configFileName', 'scriptBehaviorAfterReboot'].map((name) => `settings.${name}`),
      ...['install', 'update', 'remove'].map((name) => `manageActions.${name}`),
    ].map((place) => `publishingProfile.${place}`);
    for (const place of places) {
      expect(rows.get(place), place).toBeDefined();
      expect(at(body, 'properties', ...place.split('.')), place).toBe(rows.get(place));
    }
  });
});

describe('the install policy', () => {
  const template = JSON.parse(fileText('bicep/policy/application-of-vm.json')) as {
    readonly parameters: object;
    readonly resources: readonly {
      readonly type: string;
      readonly name: string;
      readonly properties: object;
    }[];
  };

  it('adds an application beneath the VM, named as the version says, and touches no other', () => {
    const version =
      '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/galleries/n/applications/app/versions/1.0.0';
    const [resource] = template.resources;
    expect(template.resources).toHaveLength(1);
    expect(resource?.type).toBe('Microsoft.Compute/virtualMachines/VMapplications');
    const index = Number(
      /split\(parameters\('applicationVersionId'\), '\/'\)\[(\d+)\]/.exec(resource?.name ?? '')?.[1],
    );
    expect(version.split('/')[index]).toBe('app');
    expect(resource?.properties).toMatchObject({ treatFailureAsDeploymentFailure: true });
  });

  it('hands the template each parameter that it has', () => {
    const details = at(bodyOf(project, policy, 'onVms'), 'properties', 'policyRule', 'then', 'details');
    const given = at(details, 'deployment', 'properties', 'parameters');
    expect(Object.keys(Object(given)).toSorted()).toEqual(Object.keys(template.parameters).toSorted());
  });
});

describe('the relay', () => {
  const definition = JSON.parse(fileText('bicep/relay/workflow.json')) as {
    readonly parameters: object;
    readonly triggers: object;
  };

  it('is given each parameter that its definition has', () => {
    const body = bodyOf(project, relay, 'workflow', {
      callerPrincipalIds: [],
      eventTypes: [],
      audience: 'x',
    });
    expect(Object.keys(Object(at(body, 'properties', 'parameters'))).toSorted()).toEqual(
      Object.keys(definition.parameters).toSorted(),
    );
  });

  it('is called by the name of its trigger, without a signature', () => {
    const output = declared(project, relay, 'sinkUrl')?.node.text ?? '';
    expect(output).toContain(`/triggers/${Object.keys(definition.triggers)[0]}/paths/invoke?api-version=`);
    expect(output).not.toMatch(/sig=|callback/i);
  });

  it('takes tokens for the audience that the sink asks for by default', () => {
    const body = bodyOf(project, relay, 'workflow', {
      callerPrincipalIds: ['one'],
      eventTypes: [],
      audience: '',
    });
    const policies = at(
      body,
      'properties',
      'accessControl',
      'triggers',
      'openAuthenticationPolicies',
      'policies',
    );
    expect(String(at(policies, 'caller-one', 'claims', 1, 'value'))).toBe('<environment().resourceManager>');
    // What that is in the public cloud, by the documentation of environment().
    const settings = sinkTypes.get('logicapps')?.settings.parse({ url: 'https://example.org' });
    expect(settings).toMatchObject({ audience: 'https://management.azure.com/' });
  });
});

it('the Event Grid preview asks for the type of event that Azure documents', () => {
  const { eventType } = JSON.parse(fixtureText('40-eventgrid-scheduledeventemitted-started.json'));
  const filter = at(bodyOf(project, preview, 'delivery'), 'properties', 'filter', 'includedEventTypes');
  expect(filter).toEqual([eventType]);
});

it('the access control profile names the program that the service runs', () => {
  const unit = fileText('infra/systemd/scheduled-events-bridge-agent.service');
  const path = at(
    bodyOf(project, access, 'rules', { otherExecutables: [], location: 'a', replicationRegions: [] }),
    'properties',
    'rules',
    'identities',
    0,
    'exePath',
  );
  expect(unit).toMatch(new RegExp(`^ExecStart=${String(path)} `, 'm'));
});
