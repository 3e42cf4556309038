// The settings of the consumer: what a file may say, and what it is told when it says something else.
import { expect, it } from 'vitest';
import { consumerSchema, defaultTrailPath } from '../../src/config/consumer.ts';
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

it('names what it does not know, and stores that are not there', () => {
  const hub = 'hub: { fullyQualifiedNamespace: ns, eventHubName: fleet }\n';
  expect(faultsOf(`${hub}trial: {}`)).toEqual([
    '(top level): there is no setting "trial" here; did you mean "trail"?',
  ]);
  expect(faultsOf(`${hub}trail: { type: postgres }`)[0]).toContain('trail.type');
  expect(faultsOf(`${hub}checkpoints: { type: blob }`)[0]).toContain('checkpoints.type');
  expect(faultsOf('hub: { fullyQualifiedNamespace: "https://ns", eventHubName: fleet }')[0]).toContain(
    'Expected a host name',
  );
});
