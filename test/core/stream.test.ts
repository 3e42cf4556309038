// Names of streams: the same for the same hub however it is spelled, another one for a hub made anew.
import { expect, test } from 'vitest';
import { streamName } from '../../src/core/stream.ts';

const hubCreatedAt = Date.UTC(2026, 10, 10, 22, 27, 4, 118);
const origin = { namespace: 'ns.servicebus.windows.net', hub: 'fleet', partition: '0', hubCreatedAt };

test('a stream is named by namespace, hub, partition and epoch', () => {
  expect(streamName(origin)).toBe('ns.servicebus.windows.net/fleet/0/20261110T222704118Z');
});

test('the case in which somebody wrote host and hub does not matter', () => {
  expect(streamName({ ...origin, namespace: 'NS.ServiceBus.Windows.net', hub: 'Fleet' })).toBe(
    streamName(origin),
  );
});

test('another partition, hub, namespace or birth is another stream, and no name can pass for two parts', () => {
  const others = [
    { ...origin, partition: '1' },
    { ...origin, hub: 'fleet/0' },
    { ...origin, namespace: 'other' },
    { ...origin, hubCreatedAt: hubCreatedAt + 1 },
  ];
  expect(new Set([origin, ...others].map(streamName)).size).toBe(5);
  expect(streamName({ ...origin, hub: 'fleet/0' }).split('/')).toHaveLength(4);
});
