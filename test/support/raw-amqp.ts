// A bare AMQP client that shows the frames it gets: for what the SDK would never do or never tell.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import rhea, { type Connection, type Message, type Receiver, type Sender } from 'rhea';
import type { EventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';

const frameNames = ['open', 'begin', 'attach', 'flow', 'transfer', 'disposition', 'detach', 'close'] as const;
export type FrameName = (typeof frameNames)[number];

export interface Frame {
  readonly name: FrameName;
  /** As many as stand on the wire. */
  readonly fields: readonly unknown[];
  /** By AMQP's names, with underscores. */
  readonly performative: Readonly<Record<string, unknown>>;
  readonly payload: Buffer | undefined;
}

interface Arriving {
  readonly performative: { readonly value: readonly unknown[] } & Readonly<Record<string, unknown>>;
  readonly payload?: Buffer;
}

export interface RawClient extends Disposable {
  readonly connection: Connection;
  /** In the order in which they came. */
  readonly frames: readonly Frame[];
}

function recordFrames(connection: Connection): readonly Frame[] {
  const frames: Frame[] = [];
  const handlers = connection as unknown as Record<string, (frame: Arriving) => void>;
  for (const name of frameNames) {
    const handle = handlers[`on_${name}`]?.bind(connection);
    handlers[`on_${name}`] = (frame) => {
      const { performative, payload } = frame;
      frames.push({ name, fields: [...performative.value], performative, payload });
      handle?.(frame);
    };
  }
  return frames;
}

/** Connects without TLS, with or without SASL. */
export async function connectRaw(
  { port }: Pick<EventHubsEmulator, 'port'>,
  username: string | undefined = 'anybody',
): Promise<RawClient> {
  const container = rhea.create_container();
  container.on('error', () => undefined);
  const connection = container.create_connection({
    host: '127.0.0.1',
    port,
    reconnect: false,
    ...(username === undefined ? {} : { username }),
  });
  connection.on('disconnected', () => undefined);
  const frames = recordFrames(connection);
  connection.connect();
  await once(connection, 'connection_open');
  return { connection, frames, [Symbol.dispose]: () => connection['socket'].destroy() };
}

/** What an emulator's connection string says. */
export function keyOf({ connectionString }: Pick<EventHubsEmulator, 'connectionString'>) {
  const [, endpoint = '', name = '', key = ''] =
    /Endpoint=(sb:[^;]+);SharedAccessKeyName=([^;]+);SharedAccessKey=([^;]+)/.exec(connectionString) ?? [];
  return { endpoint, name, key };
}

export interface TokenFields {
  readonly audience: string;
  readonly name: string;
  readonly key: string;
  /** Epoch ms. */
  readonly expiresAt?: number;
}

/** Signs a token as Event Hubs documents it. */
export function signToken({ audience, name, key, expiresAt = Date.now() + 3_600_000 }: TokenFields): string {
  const resource = encodeURIComponent(audience);
  const expiry = Math.floor(expiresAt / 1000);
  const signature = createHmac('sha256', key).update(`${resource}\n${expiry}`).digest('base64');
  return `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signature)}&se=${expiry}&skn=${encodeURIComponent(name)}`;
}

export interface RequestOptions {
  readonly node: string;
  /** Names the link to answer on; Python's clients do not. */
  readonly namesReplyLink?: boolean;
}

/** Sends a request to a node and waits for its answer, on links of their own. */
export async function ask(client: RawClient, request: object, options: RequestOptions): Promise<Message> {
  const { node, namesReplyLink = true } = options;
  const session = client.connection.create_session();
  session.begin();
  const replyName = `reply-${Math.random()}`;
  const receiver: Receiver = session.open_receiver({ name: replyName, source: node });
  const sender: Sender = session.open_sender({ target: node });
  await once(sender, 'sendable');
  sender.send({
    message_id: 'one',
    body: null,
    ...(namesReplyLink ? { reply_to: replyName } : {}),
    ...request,
  });
  const [{ message }] = (await once(receiver, 'message')) as [{ message: Message }];
  return message;
}

/** Presents a token for the whole first hub. */
export async function authorize(
  client: RawClient,
  emulator: Pick<EventHubsEmulator, 'connectionString' | 'eventHubName'>,
  expiresAt?: number,
): Promise<void> {
  const { endpoint, name, key } = keyOf(emulator);
  const audience = `${endpoint}/${emulator.eventHubName}`;
  const token = signToken({ audience, name, key, ...(expiresAt === undefined ? {} : { expiresAt }) });
  const type = 'servicebus.windows.net:sastoken';
  const application_properties = { operation: 'put-token', type, name: audience };
  const answer = await ask(client, { body: token, application_properties }, { node: '$cbs' });
  const status: unknown = answer['application_properties']?.['status-code'];
  if (status !== 202) throw new Error(`the token was refused: ${status}`);
}

/** Connects and presents a token for the first hub. */
export async function connectAuthorized(emulator: EventHubsEmulator): Promise<RawClient> {
  const client = await connectRaw(emulator);
  await authorize(client, emulator);
  return client;
}

/** Opens a reader of the first partition, which gets credit only when the test gives it. */
export const openReader = ({ connection }: RawClient, { eventHubName }: EventHubsEmulator): Receiver =>
  connection.open_receiver({
    source: `${eventHubName}/ConsumerGroups/$Default/Partitions/0`,
    credit_window: 0,
  });
