// The one file that knows rhea: typed views of the parts of it that its own typings leave out.
import type { Duplex } from 'node:stream';
import rhea from 'rhea';

export interface AmqpError {
  readonly condition: string;
  readonly description: string;
}

/** A frame body: `value` holds its fields in wire order; the others are two of them. */
export interface Performative {
  readonly value: unknown[];
  readonly constructor: { readonly descriptor: { readonly numeric: number } };
  handle_max?: number | null;
  properties?: object | null;
}

export interface AmqpDelivery {
  settled: boolean;
  accept(): void;
  reject(error: AmqpError): void;
}

interface AmqpTerminus {
  readonly address?: string | null;
  readonly filter?: Readonly<Record<string, unknown>> | null;
}

export interface AmqpLink {
  readonly name: string;
  readonly session: AmqpSession;
  readonly source: AmqpTerminus | null | undefined;
  readonly target: AmqpTerminus | null | undefined;
  readonly max_message_size: number | Buffer | null | undefined;
  readonly properties: Readonly<Record<string, unknown>> | null | undefined;
  readonly desired_capabilities: string | readonly string[] | null | undefined;
  readonly local: { readonly attach: { max_message_size?: number; snd_settle_mode?: number } };
  set_source(fields: object): void;
  set_target(fields: object): void;
  is_open(): boolean;
  is_sender(): boolean;
  close(error?: AmqpError): void;
  on(event: string, listener: (context: AmqpContext) => void): void;
}

/** The emulator's end of a link on which a client receives. */
export interface AmqpSender extends AmqpLink {
  readonly credit: number;
  send(message: Buffer, tag: undefined, format: number): void;
  set_drained(drained: boolean): void;
}

/** The emulator's end of a link on which a client sends. */
export interface AmqpReceiver extends AmqpLink {
  add_credit(credit: number): void;
}

/** Role: true for a client that receives. */
export interface AttachFrame {
  readonly performative: { readonly name: string; readonly role: boolean };
}

export interface AmqpSession {
  readonly connection: AmqpConnection;
  /** By name. */
  readonly links: Record<string, AmqpLink>;
  readonly local: { readonly handles: Record<string, AmqpLink> };
  readonly remote: { readonly handles: Record<string, AmqpLink> };
  readonly outgoing: {
    readonly next_delivery_id: number;
    readonly next_pending_delivery: number;
    available(): number;
  };
  find_sender(filter: (link: AmqpLink) => boolean): AmqpSender | undefined;
  on_attach(frame: AttachFrame): void;
  remove_link(link: AmqpLink): void;
}

export interface AmqpContext {
  readonly receiver?: AmqpReceiver;
  readonly sender?: AmqpSender;
  readonly delivery?: AmqpDelivery;
  /** Always the raw bytes: `rawTransfers` sees to it. */
  readonly message?: Buffer;
  readonly format?: number;
  readonly session?: AmqpSession;
}

interface TransferFrame {
  readonly performative: { message_format?: number | null };
}

export interface AmqpConnection {
  accept(socket: Duplex): void;
  close(error?: AmqpError): void;
  eof(): void;
  is_open(): boolean;
  find_sender(filter: (link: AmqpLink) => boolean): AmqpSender | undefined;
  on(event: string, listener: (context: AmqpContext) => void): void;
  _register(): void;
  _write_frame(channel: number, frame?: Performative, payload?: Buffer): void;
  on_transfer(frame: TransferFrame): void;
  on_flow(frame: unknown): void;
}

interface SaslMechanism {
  outcome: boolean | undefined;
  username: string | undefined;
  start(): void;
}

interface AmqpContainer {
  readonly sasl_server_mechanisms: Record<string, () => SaslMechanism>;
  create_connection(options: object): AmqpConnection;
}

/** What the service says in its `open` frame (azure-sdk-for-python #5316). */
const serviceOpen = { max_frame_size: 65_536, channel_max: 4_999, idle_time_out: 240_000 };

/** A message format that rhea does not know and therefore leaves undecoded. */
const RAW_FORMAT = 0xffff_ffff;

const anybody = (): SaslMechanism => ({
  outcome: undefined,
  username: undefined,
  start() {
    this.outcome = true;
  },
});

/** Who may connect is decided by `$cbs`, so SASL lets everybody in, under the names that clients ask for. */
function createContainer(): AmqpContainer {
  const container = rhea.create_container() as unknown as AmqpContainer;
  container.sasl_server_mechanisms['ANONYMOUS'] = anybody;
  container.sasl_server_mechanisms['MSSBCBS'] = anybody;
  return container;
}

/** @returns a maker of AMQP connections that share one container id */
export function createAmqpServer(): () => AmqpConnection {
  const container = createContainer();
  return () =>
    container.create_connection({
      ...serviceOpen,
      receiver_options: { autoaccept: false, credit_window: 300 },
      tcp_no_delay: true,
    });
}

/** Hands every message over as bytes, because decoding and encoding again loses AMQP types. */
export function rawTransfers(connection: AmqpConnection): void {
  const onTransfer = connection.on_transfer.bind(connection);
  connection.on_transfer = (frame) => {
    if (frame.performative.message_format === 0) frame.performative.message_format = RAW_FORMAT;
    onTransfer(frame);
  };
}

/** Calls `listener` after every flow frame, for links that waited for credit or for window. */
export function afterFlow(connection: AmqpConnection, listener: () => void): void {
  const onFlow = connection.on_flow.bind(connection);
  connection.on_flow = (frame) => {
    onFlow(frame);
    listener();
  };
}

/**
 * How many messages may be given to a sender in this turn of the event loop. rhea lowers `credit` only when it
 * writes, and once its session buffer overflows the delivery id is spent and the link dead.
 */
export function sendBudget(sender: AmqpSender): number {
  const { outgoing } = sender.session;
  const unsent = outgoing.next_delivery_id - outgoing.next_pending_delivery;
  return Math.max(0, Math.min(sender.credit - unsent, outgoing.available()));
}

/** Answers a drain: gives back the credit that nothing is left for. */
export function giveBackCredit(sender: AmqpSender): void {
  sender.set_drained(true);
  sender.session.connection._register();
}

/** Never answers a delivery, yet lets the session forget it. */
export function forget(delivery: AmqpDelivery): void {
  delivery.settled = true;
}

/** Lets a link in: both ends are what the client named. pyamqp takes an empty terminus for a refusal. */
export function acceptLink(link: AmqpLink): void {
  const { address, filter } = link.source ?? {};
  link.set_source({ address: address ?? '', ...(filter ? { filter } : {}) });
  link.set_target({ address: link.target?.address ?? '' });
}

/** Refuses a link as the service does: an attach without terminus, then a detach that says why. */
export function refuseLink(link: AmqpLink, error: AmqpError): void {
  link.close(error);
}

type AmqpMap = Readonly<Record<string, unknown>>;

export interface AmqpRequest {
  readonly message_id?: string | number;
  readonly reply_to?: string;
  readonly application_properties?: AmqpMap;
  readonly body?: unknown;
}

/** @returns the message, or undefined when the bytes are none */
export function decodeMessage<Message>(bytes: Buffer): Message | undefined {
  try {
    return rhea.message.decode(bytes) as unknown as Message;
  } catch {
    return undefined;
  }
}

/** @param message by rhea's names: `application_properties`, `correlation_id`, `body` */
export const encodeMessage = (message: object): Buffer => rhea.message.encode(message);

/** AMQP types that rhea cannot guess from a JavaScript value. */
export const typed = {
  int: (value: number): unknown => rhea.types.wrap_int(value),
  long: (value: number): unknown => rhea.types.wrap_long(value),
  timestamp: (atMs: number): unknown => rhea.types.wrap_timestamp(atMs),
  strings: (values: readonly string[]): unknown => rhea.types.wrap_array(values, 0xa1, undefined),
};
