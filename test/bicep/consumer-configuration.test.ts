// Whether the consumer that Bicep deploys gets a configuration that the program takes.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseConfiguration } from '../../src/config/load.ts';
import { openCredential } from '../../src/consumer/hub-credential.ts';
import { consumerSettingsFor } from '../../src/consumer/settings.ts';
import { projectRoot } from '../support/source-files.ts';
import { at, bodyOf, type Value } from './support/evaluate.ts';
import { declared, mainPath, readProject } from './support/project.ts';

const consumerSettings = await consumerSettingsFor();
const project = readProject();
const given = {
  prefix: 'seb',
  image: 'registry.example.com/scheduled-events-bridge@sha256:0',
  fullyQualifiedNamespace: 'seb-events.servicebus.windows.net',
  eventHubName: 'scheduled-events',
  consumerGroupName: 'audit',
  identityResourceId: '/identity',
  identityClientId: '00000000-0000-0000-0000-000000000001',
  checkpointContainerAddress: 'https://sebcheck.blob.example/checkpoints',
  postgresHost: '',
  postgresDatabaseName: '',
  postgresUserName: 'seb-consumer',
  minReplicas: 1,
  maxReplicas: 1,
  signingVaultAddress: '',
  signingKeySecretNames: [],
  signingKey: '',
  noticeSlackUrl: '',
  noticeTeamsWorkflowUrl: '',
  anchorContainerAddress: '',
  archiveContainerAddress: '',
};
const appWith = (more: Readonly<Record<string, Value>>): Value =>
  bodyOf(project, 'bicep/modules/consumer.bicep', 'app', { ...given, ...more });
const app = appWith({});
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
});

const listOf = (value: Value): readonly Value[] => (Array.isArray(value) ? value : []);

/** What the app finds as files, by path: the value of each secret, or where it comes from. */
function filesOf(from: Value): ReadonlyMap<string, string> {
  const secrets = new Map(
    listOf(at(from, 'properties', 'configuration', 'secrets')).map((each) => [
      at(each, 'name'),
      String(at(each, 'value') ?? at(each, 'keyVaultUrl')),
    ]),
  );
  const template = at(from, 'properties', 'template');
  const volumes = listOf(at(template, 'volumes'));
  return new Map(
    listOf(at(template, 'containers', 0, 'volumeMounts')).flatMap((mount) => {
      const volume = volumes.find((each) => at(each, 'name') === at(mount, 'volumeName')) ?? null;
      return listOf(at(volume, 'secrets')).map((each): [string, string] => [
        `${String(at(mount, 'mountPath'))}/${String(at(each, 'path'))}`,
        secrets.get(at(each, 'secretRef')) ?? 'a secret that is not there',
      ]);
    }),
  );
}

function settingsOf(from: Value) {
  const text = filesOf(from).get('/etc/scheduled-events-bridge/consumer.yaml') ?? '';
  return parseConfiguration(text, 'the secret', consumerSettings);
}

describe('several consumers that share a trail in PostgreSQL', () => {
  const shared = {
    postgresHost: 'seb-trail.postgres.example',
    postgresDatabaseName: 'trail',
    minReplicas: 2,
    maxReplicas: 4,
  };
  const sharedApp = appWith(shared);
  const settings = settingsOf(sharedApp);

  it('sign in to the database with their identity, under its name and without a password', () => {
    expect(settings.trail).toMatchObject({
      type: 'postgres',
      identity: true,
      clientId: given.identityClientId,
    });
    const place = settings.trail.type === 'postgres' ? settings.trail.url.place : '';
    const address = new URL(filesOf(sharedApp).get(place.replace('file:', '')) ?? '');
    expect(address.href).toBe('postgres://seb-consumer@seb-trail.postgres.example:5432/trail');
    expect(address.password).toBe('');
  });

  it('share the partitions through the container that the scaler reads', () => {
    expect(settings.checkpoints).toMatchObject({
      type: 'blob',
      containerUrl: given.checkpointContainerAddress,
      clientId: given.identityClientId,
    });
    const scale = at(sharedApp, 'properties', 'template', 'scale');
    expect([at(scale, 'minReplicas'), at(scale, 'maxReplicas')]).toEqual([2, 4]);
    expect(at(scale, 'rules', 0, 'custom', 'metadata', 'checkpointStrategy')).toBe('blobMetadata');
    const passed = bodyOf(project, mainPath, 'consumer', { trailStore: 'postgres' });
    const storage = (name: string) => String(at(passed, 'params', name));
    expect(storage('checkpointContainerAddress')).toContain('checkpointStorage.outputs.containerUrl');
    expect(storage('checkpointStorageAccountName')).toContain('checkpointStorage.outputs.accountName');
    expect(storage('checkpointContainerName')).toContain('checkpointStorage.outputs.containerName');
  });

  it('need no disk', () => {
    const kinds = listOf(at(sharedApp, 'properties', 'template', 'volumes')).map((each) =>
      at(each, 'storageType'),
    );
    expect(kinds).toEqual(['Secret', 'Secret']);
  });

  it('are deployed with either store', () => {
    const text = declared(project, mainPath, 'deploysConsumer')?.node.text;
    expect(text).toBe('var deploysConsumer = !empty(consumerImage)');
  });
});

describe('the keys, anchors and copies of a consumer in a Container App', () => {
  const place = '/keys/consumer';
  const vault = 'https://keys.vault.example/';

  it('are none unless they are asked for', () => {
    const settings = settingsOf(app);
    expect(settings.signing).toBeUndefined();
    expect(settings.anchors).toEqual([]);
    expect(settings.archive).toBeUndefined();
    expect([...filesOf(app).keys()]).toEqual(['/etc/scheduled-events-bridge/consumer.yaml']);
  });

  it('come from the vault, fetched with the identity: the first signs, the others sign as well', () => {
    const signed = appWith({ signingVaultAddress: vault, signingKeySecretNames: ['Trail-2', 'trail-1'] });
    expect(settingsOf(signed).signing).toEqual({
      keyFile: `${place}/signing-key-trail-2`,
      alsoKeyFiles: [`${place}/signing-key-trail-1`],
    });
    const files = filesOf(signed);
    expect(files.get(`${place}/signing-key-trail-2`)).toBe(`${vault}secrets/Trail-2`);
    expect(files.get(`${place}/signing-key-trail-1`)).toBe(`${vault}secrets/trail-1`);
    const secrets = listOf(at(signed, 'properties', 'configuration', 'secrets')).slice(1);
    expect(secrets.map((each) => at(each, 'identity'))).toEqual([
      given.identityResourceId,
      given.identityResourceId,
    ]);
  });

  it('lie below the folder that the image keeps for its user alone', () => {
    const made = readFileSync(join(projectRoot, 'infra/container/prepare-context.sh'), 'utf8');
    expect(made).toContain('install -d -m 0500 "$context/guarded/keys"');
    const mounts = listOf(
      at(appWith({ signingKey: 'key' }), 'properties', 'template', 'containers', 0, 'volumeMounts'),
    );
    expect(mounts.map((each) => at(each, 'mountPath'))).toContain(place);
  });

  it('come from whoever deploys, as a secret of the app alone', () => {
    const signed = appWith({ signingKey: 'PRIVATE+KEY+marker' });
    expect(settingsOf(signed).signing).toEqual({ keyFile: `${place}/signing-key`, alsoKeyFiles: [] });
    expect(filesOf(signed).get(`${place}/signing-key`)).toBe('PRIVATE+KEY+marker');
    const everything = JSON.stringify(at(signed, 'properties', 'template'));
    expect(everything).not.toContain('marker');
    expect(String(at(signed, 'properties', 'configuration', 'secrets', 0, 'value'))).not.toContain('marker');
  });

  it('go to the containers that are named', () => {
    const [anchor, copy] = ['https://audit.example/trail', 'https://copy.example/trail'];
    const containers = { anchorContainerAddress: anchor, archiveContainerAddress: copy };
    const settings = settingsOf(appWith({ signingKey: 'key', ...containers }));
    expect(settings.anchors).toMatchObject([
      { type: 'blob', containerUrl: anchor, clientId: given.identityClientId },
    ]);
    expect(settings.archive).toMatchObject({
      type: 'blob',
      containerUrl: copy,
      clientId: given.identityClientId,
    });
  });

  it('are asked for by the access to the audit container: anchors with a key alone, the copy on request', () => {
    const asked = (more: Readonly<Record<string, Value>>) => {
      const params = at(bodyOf(project, mainPath, 'consumer', more), 'params');
      return [at(params, 'anchorContainerAddress'), at(params, 'archiveContainerAddress')].map(
        (each) => each !== '',
      );
    };
    const [append, key] = [{ auditWriteAccess: 'append' }, { signingKey: 'key' }];
    expect(asked({ ...key, enableTrailArchive: true })).toEqual([false, false]);
    expect(asked(append)).toEqual([false, false]);
    expect(asked({ ...append, ...key })).toEqual([true, false]);
    expect(asked({ ...append, signingKeyVaultResourceId: '/vault' })).toEqual([true, false]);
    const contributor = { auditWriteAccess: 'contributor' };
    expect(asked({ ...contributor, ...key, enableTrailArchive: true })).toEqual([true, true]);
  });
});

describe('notices of the whole fleet', () => {
  const slack = 'https://hooks.slack.com/services/T00000000/B00000000/marker';
  const teams = 'https://example.westeurope.logic.azure.com/workflows/marker';

  it('are none unless somebody is named to tell', () => {
    expect(settingsOf(app).notify).toBeUndefined();
  });

  it('go to Slack, to Teams or to both, with their addresses in files of the app', () => {
    const both = appWith({ noticeSlackUrl: slack, noticeTeamsWorkflowUrl: teams });
    const { notify } = settingsOf(both);
    expect(Object.entries(notify?.sinks ?? {}).map(([name, { type }]) => [name, type])).toEqual([
      ['slack', 'slack'],
      ['teams', 'teams'],
    ]);
    const addresses = Object.values(notify?.sinks ?? {}).map((sink) => {
      const { place } = (sink as unknown as { readonly url: { readonly place: string } }).url;
      return filesOf(both).get(place.replace('file:', ''));
    });
    expect(addresses).toEqual([slack, teams]);
    expect(Object.keys(settingsOf(appWith({ noticeTeamsWorkflowUrl: teams })).notify?.sinks ?? {})).toEqual([
      'teams',
    ]);
  });

  it('leave their addresses in no text but their own', () => {
    const told = appWith({ noticeSlackUrl: slack, noticeTeamsWorkflowUrl: teams });
    expect(JSON.stringify(at(told, 'properties', 'template'))).not.toContain('marker');
    expect(String(at(told, 'properties', 'configuration', 'secrets', 0, 'value'))).not.toContain('marker');
  });

  it('wait where the consumer may write', () => {
    const mounts = listOf(at(app, 'properties', 'template', 'containers', 0, 'volumeMounts'));
    const { notify } = settingsOf(appWith({ noticeSlackUrl: slack }));
    const writable = mounts
      .map((each) => String(at(each, 'mountPath')))
      .filter((path) => path.includes('/var/'));
    expect(writable.some((path) => notify?.stateDir.startsWith(`${path}/`))).toBe(true);
  });

  it('are asked for by the parameters of these names', () => {
    const params = at(
      bodyOf(project, mainPath, 'consumer', { noticeSlackUrl: slack, noticeTeamsWorkflowUrl: teams }),
      'params',
    );
    expect([at(params, 'noticeSlackUrl'), at(params, 'noticeTeamsWorkflowUrl')]).toEqual([slack, teams]);
  });
});
