// Who may do what: shared access signatures and tokens.
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { consumerFor, producerFor, startReception } from '../../support/hub-clients.ts';
import { ask, authorize, connectRaw, keyOf, signToken, type TokenFields } from '../../support/raw-amqp.ts';
import { until } from '../../support/until.ts';

const unauthorized = { code: 'UnauthorizedError' };
const noRetry = { maxRetries: 0 };

/** Sends with a signature made beforehand instead of a key. */
async function sendWith(emulator: EventHubsEmulator, fields: Partial<TokenFields>): Promise<void> {
  const { endpoint, name, key } = keyOf(emulator);
  const audience = `${endpoint}/${emulator.eventHubName}`;
  const signature = signToken({ audience, name, key, ...fields });
  const connectionString = `Endpoint=${endpoint};SharedAccessSignature=${signature};UseDevelopmentEmulator=true`;
  await using producer = producerFor({ ...emulator, connectionString }, noRetry);
  await producer.client.sendBatch([{ body: 1 }]);
}

it('takes a signature for the hub, for the whole namespace and by any of its keys', async () => {
  const sharedAccessKeys = [
    { name: 'one', key: 'first key' },
    { name: 'two & more', key: 'second key' },
  ];
  await using emulator = await startEventHubsEmulator({ sharedAccessKeys });
  await sendWith(emulator, {});
  await sendWith(emulator, { audience: `${keyOf(emulator).endpoint}/` });
  await sendWith(emulator, { name: 'two & more', key: 'second key' });
  expect(emulator.events()).toHaveLength(3);
  expect(emulator.tokens.every(({ accepted }) => accepted)).toBe(true);
});

it.each([
  ['by a wrong key', () => ({ key: 'wrong' })],
  ['by a key that is not there', () => ({ name: 'nobody' })],
  ['that has expired', () => ({ expiresAt: Date.now() - 2_000 })],
  ['for another hub', ({ endpoint }: { endpoint: string }) => ({ audience: `${endpoint}/other-hub` })],
  [
    'for a hub whose name begins the same',
    ({ endpoint }: { endpoint: string }) => ({ audience: `${endpoint}/scheduled` }),
  ],
  [
    'for one partition only',
    ({ endpoint }: { endpoint: string }) => ({ audience: `${endpoint}/scheduled-events/Partitions/0` }),
  ],
  ['for another namespace', () => ({ audience: 'sb://other.servicebus.windows.net/scheduled-events' })],
])('refuses a signature %s', async (_, fieldsOf) => {
  await using emulator = await startEventHubsEmulator();
  await expect(sendWith(emulator, fieldsOf(keyOf(emulator)))).rejects.toMatchObject(unauthorized);
  expect(emulator.events()).toEqual([]);
  expect(emulator.tokens.map(({ accepted }) => accepted)).toEqual([false]);
});

it('takes a signature that is presented as a JSON web token, as Python does', async () => {
  await using emulator = await startEventHubsEmulator();
  using client = await connectRaw(emulator);
  const { endpoint, ...key } = keyOf(emulator);
  const audience = `${endpoint}/scheduled-events`;
  const application_properties = { operation: 'put-token', type: 'jwt', name: audience };
  const body = signToken({ audience, ...key });
  const answer = await ask(client, { body, application_properties }, { node: '$cbs' });
  expect(answer['application_properties']).toMatchObject({ 'status-code': 202 });
});

it('refuses tokens that are no signatures', async () => {
  await using emulator = await startEventHubsEmulator();
  using client = await connectRaw(emulator);
  const name = `${keyOf(emulator).endpoint}/scheduled-events`;
  const type = 'servicebus.windows.net:sastoken';
  const broken = ['', 'hello', 'SharedAccessSignature sr=%&sig=%&se=1&skn=%', 'SharedAccessSignature sr=a'];
  const properties = [type, 'jwt', 'other'].map((each) => ({ operation: 'put-token', type: each, name }));
  for (const application_properties of properties) {
    for (const body of broken) {
      const answer = await ask(client, { body, application_properties }, { node: '$cbs' });
      expect(answer['application_properties']).toMatchObject({ 'status-code': 401 });
    }
  }
  const answer = await ask(client, { application_properties: { operation: 'get-token' } }, { node: '$cbs' });
  expect(answer['application_properties']).toMatchObject({ 'status-code': 400 });
});

it('lets a key send, listen or both, as it was given', async () => {
  const sharedAccessKeys = [
    { name: 'sender', key: 'a', rights: ['send' as const] },
    { name: 'listener', key: 'b', rights: ['listen' as const] },
  ];
  await using emulator = await startEventHubsEmulator({ sharedAccessKeys });
  const listening = emulator.connectionString.replace(
    '=sender;SharedAccessKey=a',
    '=listener;SharedAccessKey=b',
  );
  const listener = { connectionString: listening, eventHubName: emulator.eventHubName };
  await using producer = producerFor(emulator);
  await producer.client.sendBatch([{ body: 1 }], { partitionId: '0' });
  await using refused = startReception(emulator, { partition: '0' });
  const refusal = await until('the refusal', () => refused.errors[0]);
  expect(refusal).toMatchObject({ errors: expect.arrayContaining([expect.objectContaining(unauthorized)]) });
  await using reading = startReception(listener, { partition: '0' });
  await until('the event', () => reading.events.length === 1);
  await using mute = producerFor(listener, noRetry);
  await expect(mute.client.sendBatch([{ body: 2 }])).rejects.toMatchObject(unauthorized);
  await using consumer = consumerFor(listener);
  expect(await consumer.client.getPartitionIds()).toHaveLength(4);
});

it('refuses links and questions without a token', async () => {
  await using emulator = await startEventHubsEmulator();
  using client = await connectRaw(emulator);
  const sender = client.connection.open_sender('scheduled-events');
  await once(sender, 'sender_error');
  expect(sender.error).toMatchObject({ condition: 'amqp:unauthorized-access' });
  const receiver = client.connection.open_receiver('scheduled-events/ConsumerGroups/$Default/Partitions/0');
  await once(receiver, 'receiver_error');
  expect(receiver.error).toMatchObject({ condition: 'amqp:unauthorized-access' });
  const attached = client.frames
    .filter(({ name }) => name === 'attach')
    .map(({ performative }) => performative);
  expect(JSON.stringify(attached.map(({ source, target }) => [source, target]))).toBe(
    '[[null,null],[null,null]]',
  );
  const question = { operation: 'READ', type: 'com.microsoft:eventhub', name: 'scheduled-events' };
  const answer = await ask(client, { application_properties: question }, { node: '$management' });
  expect(answer['application_properties']).toMatchObject({ 'status-code': 401 });
});

it('detaches a link whose token has expired', async () => {
  let now = Date.now();
  await using emulator = await startEventHubsEmulator({ clock: { ...systemClock, now: () => now } });
  using client = await connectRaw(emulator);
  await authorize(client, emulator, now + 60_000);
  const sender = client.connection.open_sender('scheduled-events/Partitions/0');
  await once(sender, 'sendable');
  sender.send({ body: 1 });
  await once(sender, 'accepted');
  const receiver = client.connection.open_receiver('scheduled-events/ConsumerGroups/$Default/Partitions/0');
  await once(receiver, 'message');
  now += 61_000;
  sender.send({ body: 2 });
  await once(sender, 'sender_error');
  expect(sender.error).toMatchObject({ condition: 'amqp:unauthorized-access' });
  expect(emulator.events()).toHaveLength(1);
});
