// What the emulator closes when nothing happens, and what it leaves open.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { producerFor } from '../../support/hub-clients.ts';
import { ask, authorize, connectRaw } from '../../support/raw-amqp.ts';
import { until } from '../../support/until.ts';

it.concurrent('closes a connection that has no link to an entity for long, whatever it asks meanwhile', async () => {
  await using emulator = await startEventHubsEmulator({ connectionIdleMs: 1_500 });
  using client = await connectRaw(emulator);
  const closed = once(client.connection, 'connection_close');
  await authorize(client, emulator);
  const question = { operation: 'READ', type: 'com.microsoft:eventhub', name: 'scheduled-events' };
  await ask(client, { application_properties: question }, { node: '$management' });
  await closed;
  expect(client.connection.error).toMatchObject({
    condition: 'amqp:connection:forced',
    description: expect.stringContaining('inactive for more than the allowed 1500 milliseconds'),
  });
  await until('it is gone', () => emulator.connections === 0);
});

it.concurrent('ends a connection that begins and then says nothing', async () => {
  await using emulator = await startEventHubsEmulator({ connectionIdleMs: 300 });
  const socket = connect(emulator.port, '127.0.0.1').resume();
  socket.write(Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 1, 0, 0]));
  await once(socket, 'close');
  await until('it is forgotten', () => emulator.connections === 0);
});

it.concurrent('keeps a connection open while a link reads, and closes it when the last link has gone', async () => {
  await using emulator = await startEventHubsEmulator({ connectionIdleMs: 1_500 });
  using client = await connectRaw(emulator);
  await authorize(client, emulator);
  const receiver = client.connection.open_receiver('scheduled-events/ConsumerGroups/$Default/Partitions/0');
  await once(receiver, 'receiver_open');
  using other = await connectRaw(emulator);
  await once(other.connection, 'connection_close');
  expect(client.connection.is_open()).toBe(true);
  const closed = once(client.connection, 'connection_close');
  receiver.close();
  await closed;
  expect(client.connection.error).toMatchObject({ condition: 'amqp:connection:forced' });
});

it.concurrent('detaches a link that publishes nothing for long, and leaves the connection open', async () => {
  await using emulator = await startEventHubsEmulator({ senderIdleMs: 1_500 });
  using client = await connectRaw(emulator);
  await authorize(client, emulator);
  const sender = client.connection.open_sender('scheduled-events');
  await once(sender, 'sendable');
  sender.send({ body: 1 });
  await once(sender, 'accepted');
  await once(sender, 'sender_error');
  expect(sender.error).toMatchObject({
    condition: 'amqp:link:detach-forced',
    description: expect.stringContaining('idle for 1500ms'),
  });
  expect(client.connection.is_open()).toBe(true);
  await until('it is forgotten', () => emulator.counters.publishers === 0);
});

it.concurrent('counts from the last event that was published', async () => {
  const senderIdleMs = 2_000;
  await using emulator = await startEventHubsEmulator({ senderIdleMs });
  using client = await connectRaw(emulator);
  await authorize(client, emulator);
  const sender = client.connection.open_sender('scheduled-events');
  await once(sender, 'sendable');
  await delay(senderIdleMs / 4);
  sender.send({ body: 1 });
  await once(sender, 'accepted');
  const acceptedAt = performance.now();
  await once(sender, 'sender_error');
  expect(performance.now() - acceptedAt).toBeGreaterThan(senderIdleMs * 0.9);
});

it.concurrent('is idle as the service is, and the SDK sends again after either', async () => {
  await using emulator = await startEventHubsEmulator({ senderIdleMs: 1_000, connectionIdleMs: 1_000 });
  await using producer = producerFor(emulator);
  for (let count = 1; count <= 2; count++) {
    await producer.client.sendBatch([{ body: 1 }]);
    expect(emulator.events()).toHaveLength(count);
    await until('the connection is gone', () => emulator.connections === 0);
  }
});
