// The settings of the consumer: what a file may say, and what it is told when it says something else.
import { expect, it } from 'vitest';
import { consumerSchema } from '../../src/config/consumer.ts';
import { defaultTrailPath } from '../../src/config/consumer-trail.ts';
import { ConfigurationError, parseConfiguration } from '../../src/config/load.ts';

const parse = (text: string) => parseConfiguration(text, 'consumer.yaml', consumerSchema);

function faultsOf(text: string): readonly string[] {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
  throw new Error('it was accepted');
}

it('needs no more than a hub', () => {
  expect(parse('hub: { fullyQualifiedNamespace: ns.servicebus.windows.net, eventHubName: fleet }')).toEqual({
    hub: {
      fullyQualifiedNamespace: 'ns.servicebus.windows.net',
      eventHubName: 'fleet',
      transport: 'amqp',
      consumerGroup: '$Default',
    },
    checkpoints: { type: 'trail' },
    trail: { type: 'sqlite', path: defaultTrailPath },
    anchors: [],
    log: { level: 'info' },
  });
});

it('takes a connection string as a secret, with or without the name of the hub', () => {
  const { hub } = parse('hub: { connectionString: { env: HUB } }');
  expect(JSON.stringify(hub)).toContain('[secret env:HUB]');
  expect(parse('hub: { connectionString: { env: HUB }, eventHubName: fleet }').hub.eventHubName).toBe(
    'fleet',
  );
});

it('wants one way to the hub, and the name of the hub where only a namespace is given', () => {
  const both = 'hub: { fullyQualifiedNamespace: ns, connectionString: x, eventHubName: fleet }';
  const oneWay = 'hub: Give either fullyQualifiedNamespace or connectionString';
  expect(faultsOf(both)).toEqual([oneWay]);
  expect(faultsOf('hub: { eventHubName: fleet }')).toEqual([oneWay]);
  expect(faultsOf('hub: { fullyQualifiedNamespace: ns }')).toEqual([
    'hub.eventHubName: Must be given beside fullyQualifiedNamespace',
  ]);
});

const hub = 'hub: { fullyQualifiedNamespace: ns, eventHubName: fleet }\n';

it('names what it does not know, and stores that are not there', () => {
  expect(faultsOf(`${hub}trial: {}`)).toEqual([
    '(top level): there is no setting "trial" here; did you mean "trail"?',
  ]);
  expect(faultsOf(`${hub}trail: { type: oracle }`)[0]).toContain('trail.type');
  expect(faultsOf('hub: { fullyQualifiedNamespace: "https://ns", eventHubName: fleet }')[0]).toContain(
    'Expected a host name',
  );
});

const container = 'containerUrl: https://a.blob.example/c';
const shared = `${hub}trail: { type: postgres, url: { env: TRAIL } }\n`;

it.each([
  ['a database without its address', `${hub}trail: { type: postgres }`, 'trail.url: Must be given'],
  [
    'what belongs to the other store',
    `${hub}trail: { type: postgres, url: x, path: /t }`,
    'trail.path: Does not belong',
  ],
  [
    'several consumers with one file',
    `${hub}checkpoints: { type: blob, ${container} }`,
    'checkpoints.type: Several consumers need a trail that they can share',
  ],
  [
    'partitions shared nowhere',
    `${shared}checkpoints: { type: blob }`,
    'checkpoints: Give either containerUrl, or connectionString and container',
  ],
  [
    'a container that is named twice',
    `${shared}checkpoints: { type: blob, ${container}, connectionString: x, container: abc }`,
    'checkpoints: Give either containerUrl, or connectionString and container',
  ],
  ['a container for no one', `${hub}checkpoints: { ${container} }`, 'checkpoints.containerUrl: Does not'],
  ['an anchor that is nowhere', `${hub}anchors: [{ type: file }]`, 'anchors.0.path: Must be given'],
  [
    'anchors of heads that nobody signs',
    `${hub}anchors: [{ type: file, path: /mnt/heads }]`,
    'anchors: Anchors need signing',
  ],
  [
    'a signature in a setting that is shown',
    `${hub}archive: { type: blob, containerUrl: "https://a.blob.example/c?sig=HUSH" }`,
    'archive.containerUrl: Leave out what gives access',
  ],
  ['a copy that is nowhere', `${hub}archive: { type: folder }`, 'archive.path: Must be given'],
])('refuses %s', (_, text, fault) => {
  expect(faultsOf(text).join('\n')).toContain(fault);
  expect(faultsOf(text).join('\n')).not.toContain('HUSH');
});

it('takes several consumers with their keys, anchors and copy', () => {
  const settings = parse(`${shared}checkpoints: { type: blob, ${container} }
signing: { keyFile: /keys/one, alsoKeyFiles: [{ credential: before.key }] }
anchors: [{ type: file, path: /mnt/other/heads }, { type: webhook, url: { env: HOOK }, interval: 1h }]
archive: { type: blob, ${container} }`);
  expect(settings.signing).toEqual({
    keyFile: '/keys/one',
    alsoKeyFiles: ['/etc/scheduled-events-bridge/credentials/before.key'],
  });
  expect(settings.anchors.map(({ type, interval }) => [type, interval])).toEqual([
    ['file', 600_000],
    ['webhook', 3_600_000],
  ]);
});
