// Whether the consumer that Bicep deploys gets a configuration that the program takes.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseConfiguration } from '../../src/config/load.ts';
import { openCredential } from '../../src/consumer/hub-credential.ts';
import { consumerSettings } from '../../src/consumer/settings.ts';
import { at, bodyOf, type Value } from './support/evaluate.ts';
import { declared, mainPath, readProject } from './support/project.ts';

const project = readProject();
const given = {
  prefix: 'seb',
  image: 'registry.example.com/scheduled-events-bridge@sha256:0',
  fullyQualifiedNamespace: 'seb-events.servicebus.windows.net',
  eventHubName: 'scheduled-events',
  consumerGroupName: 'audit',
  identityResourceId: '/identity',
  identityClientId: '00000000-0000-0000-0000-000000000001',
  maxReplicas: 1,
};
const app = bodyOf(project, 'bicep/modules/consumer.bicep', 'app', given);
const template = at(app, 'properties', 'template');
const container = at(template, 'containers', 0);
const secret = at(app, 'properties', 'configuration', 'secrets', 0);

describe('the consumer in a Container App', () => {
  it('gets a consumer.yaml that the program takes, and that says where everything is', () => {
    const settings = parseConfiguration(String(at(secret, 'value')), 'the secret', consumerSettings);
    expect(settings.hub).toMatchObject({
      fullyQualifiedNamespace: given.fullyQualifiedNamespace,
      eventHubName: given.eventHubName,
      consumerGroup: given.consumerGroupName,
      clientId: given.identityClientId,
    });
    expect(settings.trail).toEqual({ type: 'sqlite', path: '/var/lib/scheduled-events-bridge/trail.db' });
    // The probes come from outside of the container.
    expect(settings.status?.listen).toEqual({ host: '0.0.0.0', port: 9465 });
  });

  it('finds that file where the program looks for it when nobody names one', () => {
    const volumes = at(template, 'volumes') as readonly Value[];
    const volume = volumes.find((each) => at(each, 'storageType') === 'Secret') ?? null;
    expect(at(volume, 'secrets')).toEqual([{ secretRef: at(secret, 'name'), path: 'consumer.yaml' }]);
    expect(at(container, 'volumeMounts')).toEqual([
      { volumeName: at(volume, 'name'), mountPath: '/etc/scheduled-events-bridge' },
      { volumeName: 'state', mountPath: '/var/lib/scheduled-events-bridge' },
    ]);
    expect(at(container, 'args')).toEqual(['consumer']);
  });

  it('starts anew when its configuration changes', () => {
    const version = declared(project, 'bicep/modules/consumer.bicep', 'app')?.node.text;
    expect(version).toMatch(/name: 'CONFIGURATION_VERSION'\s+value: uniqueString\(string\(configuration\)\)/);
  });

  it('signs in with the identity of its configuration, at the place that Container Apps name', async () => {
    const asked: { query: URLSearchParams; header: unknown }[] = [];
    const server = createServer((request, response) => {
      const { searchParams: query } = new URL(request.url ?? '', 'http://127.0.0.1');
      asked.push({ query, header: request.headers['x-identity-header'] });
      const [expires_on, resource] = [String(Math.floor(Date.now() / 1000) + 3600), query.get('resource')];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ access_token: 'token', expires_on, resource, token_type: 'Bearer' }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      vi.unstubAllEnvs();
      server.close();
    });
    for (const variable of at(container, 'env') as readonly Value[]) {
      vi.stubEnv(String(at(variable, 'name')), String(at(variable, 'value')));
    }
    vi.stubEnv('IDENTITY_ENDPOINT', `http://127.0.0.1:${(server.address() as AddressInfo).port}/msi/token`);
    vi.stubEnv('IDENTITY_HEADER', 'header');
    const credential = openCredential(given.identityClientId);
    const token = await credential.getToken('https://eventhubs.azure.net/.default');
    expect(token?.token).toBe('token');
    expect(asked.map(({ query, header }) => [query.get('client_id'), header])).toEqual([
      [given.identityClientId, 'header'],
    ]);
  });

  it('is not deployed with a trail in PostgreSQL for as long as the program refuses one', () => {
    const hub = { fullyQualifiedNamespace: 'a.example', eventHubName: 'hub' };
    const trail = { type: 'postgres' };
    expect(consumerSettings.safeParse({ hub, trail }).success).toBe(false);
    const text = declared(project, mainPath, 'deploysConsumer')?.node.text;
    expect(text).toBe("var deploysConsumer = !empty(consumerImage) && trailStore == 'sqlite'");
  });
});
