// What stands on the wire: the things that clients other than the JavaScript SDK depend on.
import { once } from 'node:events';
import rhea, { type Message } from 'rhea';
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { splitSections } from '../../../src/emulators/eventhubs/message-sections.ts';
import { sendNumbers } from '../../support/hub-clients.ts';
import {
  ask,
  authorize,
  connectAuthorized,
  connectRaw,
  type FrameName,
  openReader,
  type RawClient,
} from '../../support/raw-amqp.ts';
import { until } from '../../support/until.ts';

const oneHub = { hubs: [{ name: 'hub', partitions: 1 }] };
const partition = 'hub/ConsumerGroups/$Default/Partitions/0';

const framesOf = ({ frames }: RawClient, name: FrameName) => frames.filter((frame) => frame.name === name);

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
  await sendNumbers(emulator, 3_000);
  using client = await connectAuthorized(emulator);
  const before = framesOf(client, 'transfer').length;
  const receiver = openReader(client, emulator);
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

it('sends no more than fits through a narrow window, and holds up no other reader of the session', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  await sendNumbers(emulator, 4_000);
  using client = await connectAuthorized(emulator);
  const session = client.connection.create_session({ incoming: 2 });
  session.begin();
  const [few, all] = ['few', 'all'].map((name) => {
    const receiver = session.open_receiver({ name, source: partition, credit_window: 0 });
    const numbers: unknown[] = [];
    receiver.on('message', ({ message }) => numbers.push(message));
    return { receiver, numbers };
  });
  few?.receiver.add_credit(7);
  await until('the seventh', () => few?.numbers.length === 7);
  all?.receiver.add_credit(4_000);
  await until('the last', () => all?.numbers.length === 4_000);
  expect(few?.numbers).toHaveLength(7);
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
  await sendNumbers(emulator, 1);
  using client = await connectAuthorized(emulator);
  const receiver = openReader(client, emulator);
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

it('answers every attach with both ends, neither of them empty', async () => {
  await using emulator = await startEventHubsEmulator(oneHub);
  using client = await connectAuthorized(emulator);
  await once(client.connection.open_sender('hub'), 'sender_open');
  await once(openReader(client, emulator), 'receiver_open');
  await ask(client, { application_properties: {} }, { node: '$management' });
  const attached = framesOf(client, 'attach').map(({ fields }) => fields.slice(5, 7));
  expect(attached).toHaveLength(6);
  for (const terminus of attached.flat()) {
    const { value } = terminus as { readonly value: readonly unknown[] };
    expect(value.length).toBeGreaterThan(0);
  }
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
  await sendNumbers(emulator, 2_500);
  using client = await connectAuthorized(emulator);
  const receiver = openReader(client, emulator);
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
  const receiver = openReader(client, emulator);
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
  // More than the credit that a link starts with: the one that is left still gets new credit.
  for (let body = 0; body < 500; body++) sender.send({ body });
  await until('all are stored', () => emulator.events().length === 502);
});
