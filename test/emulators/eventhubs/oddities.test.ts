// Clients that do the unusual: drain, have limits of their own, or send what is no message.
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { sendNumbers } from '../../support/hub-clients.ts';
import { ask, connectAuthorized, openReader } from '../../support/raw-amqp.ts';

const oneHub = { hubs: [{ name: 'hub', partitions: 1 }] };

it('tells publishers how large a message may be, whatever they say themselves', async () => {
  await using emulator = await startEventHubsEmulator({ ...oneHub, messageBytesMax: 5_000 });
  using client = await connectAuthorized(emulator);
  for (const [asked, expected] of [
    [0, 5_000],
    [900, 900],
    [90_000, 5_000],
    [undefined, 5_000],
  ] as const) {
    const sender = client.connection.open_sender({
      target: 'hub',
      ...(asked === undefined ? {} : { max_message_size: asked }),
    });
    await once(sender, 'sender_open');
    expect(sender.max_message_size).toBe(expected);
  }
});

it('rejects what is no message, with a disposition and without harm', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  using client = await connectAuthorized(emulator);
  const sender = client.connection.open_sender('hub');
  await once(sender, 'sendable');
  const batch = 0x8001_3700;
  const broken: [Buffer, number][] = [
    [Buffer.from('garbage'), 0],
    [Buffer.alloc(0), 0],
    [Buffer.from([0, 0x53, 0x75, 0xb0, 0xff, 0xff, 0xff, 0xff]), 0],
    [Buffer.from([0, 0x53, 0x75, 0xa0, 1, 1]), batch],
    [Buffer.from([0, 0x53, 0x72, 0xc1, 1, 0]), batch],
  ];
  for (const [bytes, format] of broken) {
    sender.send(bytes, undefined, format);
    const [{ delivery }] = await once(sender, 'rejected');
    expect(delivery.remote_state.error).toMatchObject({ condition: 'amqp:decode-error' });
  }
  sender.send({ body: 'fine' });
  await once(sender, 'accepted');
  expect(emulator.events()).toHaveLength(1);
});

it('gives credit back to a reader that drains', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await sendNumbers(emulator, 3);
  using client = await connectAuthorized(emulator);
  const receiver = openReader(client, emulator);
  let count = 0;
  receiver.on('message', () => {
    count += 1;
  });
  receiver.add_credit(10);
  receiver.drain_credit();
  await once(receiver, 'receiver_drained');
  expect(count).toBe(3);
});

it('ends a connection that does not speak AMQP, and no other', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  using client = await connectAuthorized(emulator);
  const header = [0x41, 0x4d, 0x51, 0x50, 0, 1, 0, 0];
  const frameOfNonsense = [0, 0, 0, 10, 2, 0, 0, 0, 0xff, 0xff];
  const detachOfNothing = [0, 0, 0, 12, 2, 0, 0, 0, 0, 0x53, 0x16, 0x45];
  for (const bytes of [
    Buffer.from('AMQP and more'),
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.from('AMQP'),
    Buffer.from([...header, ...frameOfNonsense]),
    Buffer.from([...header, ...detachOfNothing]),
  ]) {
    const socket = connect(emulator.port, '127.0.0.1').on('error', () => undefined);
    socket.end(bytes);
    socket.resume();
    await once(socket, 'close');
  }
  await ask(client, { application_properties: { operation: 'READ' } }, { node: '$management' });
  expect(emulator.connections).toBe(1);
});
