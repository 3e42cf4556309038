// What stands on the wire: the things that clients other than the JavaScript SDK depend on.
import { once } from 'node:events';
import { connect } from 'node:net';
import rhea, { type Connection, type Message } from 'rhea';
import { expect, it } from 'vitest';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { splitSections } from '../../../src/emulators/eventhubs/message-sections.ts';
import { producerFor } from '../../support/hub-clients.ts';
import { ask, authorize, connectRaw, type FrameName, type RawClient } from '../../support/raw-amqp.ts';
import { until } from '../../support/until.ts';

const oneHub = { hubs: [{ name: 'hub', partitions: 1 }] };
const partition = 'hub/ConsumerGroups/$Default/Partitions/0';

async function connectAuthorized(emulator: EventHubsEmulator): Promise<RawClient> {
  const client = await connectRaw(emulator);
  await authorize(client, emulator);
  return client;
}

const framesOf = ({ frames }: RawClient, name: FrameName) => frames.filter((frame) => frame.name === name);

async function fill(emulator: EventHubsEmulator, count: number): Promise<void> {
  await using producer = producerFor(emulator);
  const batch = await producer.client.createBatch();
  for (let body = 0; body < count; body++) batch.tryAdd({ body });
  await producer.client.sendBatch(batch);
}

/** Opens a reader that gets credit only when the test gives it. */
const openReader = (connection: Connection, more: object = {}) =>
  connection.open_receiver({ source: partition, credit_window: 0, ...more });

it('says of its connections what the service says', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  using client = await connectRaw(emulator);
  expect(framesOf(client, 'open')[0]?.performative).toMatchObject({
    max_frame_size: 65_536,
    channel_max: 4_999,
    idle_time_out: 240_000,
  });
});

it('lets clients in with and without SASL', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  for (const username of ['anybody', undefined]) {
    using client = await connectRaw(emulator, username);
    await authorize(client, emulator);
  }
  expect(emulator.tokens).toHaveLength(2);
});

// Trap 1: whoever sends past credit or past the session's buffer kills the link.
it('sends no more than the credit it has, and goes on when there is more', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await fill(emulator, 3_000);
  using client = await connectAuthorized(emulator);
  const before = framesOf(client, 'transfer').length;
  const receiver = openReader(client.connection);
  const received: Message[] = [];
  receiver.on('message', ({ message }) => received.push(message));
  receiver.add_credit(7);
  await until('seven', () => received.length === 7);
  receiver.add_credit(1);
  await until('the eighth', () => received.length === 8);
  expect(framesOf(client, 'transfer').length - before).toBe(8);
  receiver.add_credit(5_000);
  await until('the rest', () => received.length === 3_000);
  const numbers = received.map(
    ({ message_annotations }) => message_annotations?.['x-opt-sequence-number'] as unknown,
  );
  expect(numbers).toEqual(Array.from({ length: 3_000 }, (_, index) => index));
});

// Trap 2: uamqp-c takes an answer before the accept for a lost request.
it('accepts a request before it answers', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  using client = await connectAuthorized(emulator);
  const question = { operation: 'READ', type: 'com.microsoft:eventhub', name: 'hub' };
  await ask(client, { application_properties: question }, { node: '$management' });
  const order = client.frames
    .map(({ name }) => name)
    .filter((name) => name === 'disposition' || name === 'transfer');
  expect(order).toEqual(['disposition', 'transfer', 'disposition', 'transfer']);
});

// Trap 3: pyamqp indexes into frames.
it('writes every field of every frame, with the two that may not be null', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await fill(emulator, 1);
  using client = await connectAuthorized(emulator);
  const receiver = openReader(client.connection);
  receiver.add_credit(1);
  await once(receiver, 'message');
  client.connection.open_sender('nowhere/at/all');
  await until('the refusal', () => framesOf(client, 'detach').length === 1);
  const counts = new Map(client.frames.map(({ name, fields }) => [name, fields.length]));
  expect(Object.fromEntries(counts)).toEqual({
    open: 10,
    begin: 8,
    attach: 14,
    flow: 11,
    disposition: 6,
    transfer: 11,
    detach: 3,
  });
  expect(framesOf(client, 'begin').every(({ performative }) => performative['handle_max'] === 255)).toBe(
    true,
  );
  expect(framesOf(client, 'attach').every(({ performative }) => performative['properties'] !== null)).toBe(
    true,
  );
});

// Trap 4.
it('answers clients that name no link to answer on', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  using client = await connectAuthorized(emulator);
  const question = { operation: 'READ', type: 'com.microsoft:eventhub', name: 'hub' };
  const options = { node: '$management', namesReplyLink: false };
  const answer = await ask(client, { application_properties: question }, options);
  expect(answer).toMatchObject({ correlation_id: 'one', body: { name: 'hub', partition_ids: ['0'] } });
});

// Trap 5: rhea holds 2,048 unsettled deliveries at most, and Python settles none.
it('delivers events settled, so that no reader owes an answer', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await fill(emulator, 2_500);
  using client = await connectAuthorized(emulator);
  const receiver = openReader(client.connection);
  let count = 0;
  receiver.on('message', () => {
    count += 1;
  });
  receiver.add_credit(2_500);
  await until('all of them', () => count === 2_500);
  expect(receiver.snd_settle_mode).toBe(1);
  const transfers = framesOf(client, 'transfer').slice(-2_500);
  expect(transfers.every(({ performative }) => performative['settled'] === true)).toBe(true);
});

// Trap 7: rhea makes other types of what it decodes and encodes again.
it('hands on every section as it came, and adds nothing but annotations', async () => {
  const { types, message } = rhea;
  const sent = message.encode({
    durable: true,
    message_annotations: { 'x-own': types.wrap_short(5), 'x-opt-offset': 'forged' },
    message_id: 'id',
    application_properties: {
      long: types.wrap_long(5),
      byte: types.wrap_byte(5),
      ulong: types.wrap_ulong(5),
      float: types.wrap_float(1.5),
      symbol: types.wrap_symbol('s'),
      char: types.wrap_char(65),
      uuid: types.wrap_uuid(Buffer.alloc(16, 7)),
      when: types.wrap_timestamp(1_700_000_000_000),
    },
    body: message.data_section(Buffer.from('body')),
  });
  await using emulator = await startEventHubsEmulator(oneHub);
  using client = await connectAuthorized(emulator);
  const sender = client.connection.open_sender('hub');
  await once(sender, 'sendable');
  sender.send(sent, undefined, 0);
  await once(sender, 'accepted');
  const receiver = openReader(client.connection);
  receiver.add_credit(1);
  await once(receiver, 'message');
  const payload = framesOf(client, 'transfer').at(-1)?.payload ?? Buffer.alloc(0);
  const [before, after] = [splitSections(sent) ?? [], splitSections(payload) ?? []];
  const annotations = 0x72;
  const others = (sections: typeof before) => sections.filter(({ code }) => code !== annotations);
  expect(others(after).map(({ bytes }) => bytes)).toEqual(others(before).map(({ bytes }) => bytes));
  expect(after.map(({ code }) => code)).toEqual(before.map(({ code }) => code));
  const decoded = message.decode(payload)['message_annotations'] as Record<string, unknown>;
  expect(Object.keys(decoded).sort()).toEqual([
    'x-opt-enqueued-time',
    'x-opt-offset',
    'x-opt-sequence-number',
    'x-own',
  ]);
  expect(decoded).toMatchObject({ 'x-own': 5, 'x-opt-sequence-number': 0, 'x-opt-offset': '4096' });
  // A long, not the smaller type that would do: clients in other languages look for exactly this one.
  expect(payload.includes(Buffer.concat([Buffer.from('x-opt-sequence-number'), Buffer.of(0x81)]))).toBe(true);
});

// Trap 8.
it('refuses a link with an attach that has no terminus, then a detach that says why', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  using client = await connectAuthorized(emulator);
  const before = client.frames.length;
  const receiver = client.connection.open_receiver('hub/ConsumerGroups/none/Partitions/0');
  await once(receiver, 'receiver_error');
  const frames = client.frames.slice(before).filter(({ name }) => name === 'attach' || name === 'detach');
  expect(frames.map(({ name }) => name)).toEqual(['attach', 'detach']);
  const attach = frames[0]?.performative;
  expect(JSON.stringify([attach?.['source'], attach?.['target']])).toBe('[null,null]');
  expect(receiver.error).toMatchObject({
    condition: 'amqp:not-found',
    description: expect.stringContaining('could not be found'),
  });
});

// Trap 9: qpid-proton names both links of a pair alike.
it('takes two links of one name in one session, one in each direction', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  using client = await connectAuthorized(emulator);
  const session = client.connection.create_session();
  session.begin();
  const sender = session.open_sender({ name: 'twin', target: 'hub' });
  await once(sender, 'sendable');
  // The client is rhea too, which would take the second link for the first.
  const { links } = session as unknown as { readonly links: Record<string, unknown> };
  links['first twin'] = links['twin'];
  delete links['twin'];
  const receiver = session.open_receiver({ name: 'twin', source: partition, credit_window: 0 });
  await once(receiver, 'receiver_open');
  receiver.add_credit(9);
  for (const body of ['one', 'two']) {
    sender.send({ body });
    const [{ message }] = await once(receiver, 'message');
    expect(message.body).toBe(body);
  }
  receiver.close();
  await until('the reader has left', () => emulator.counters.readers === 0);
  sender.send({ body: 'three' });
  await once(sender, 'accepted');
  expect(emulator.events()).toHaveLength(3);
});

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
  await fill(emulator, 3);
  using client = await connectAuthorized(emulator);
  const receiver = openReader(client.connection);
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
  for (const text of ['AMQP\u0009\u0009\u0009\u0009', 'GET / HTTP/1.1\r\n\r\n', 'AMQP']) {
    const socket = connect(emulator.port, '127.0.0.1').on('error', () => undefined);
    socket.end(text);
    socket.resume();
    await once(socket, 'close');
  }
  await ask(client, { application_properties: { operation: 'READ' } }, { node: '$management' });
  expect(emulator.connections).toBe(1);
});
