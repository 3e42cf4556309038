// Writes DHCP messages as a server does, by its own understanding of RFC 2131, and answers as one on this machine.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface WrittenMessage {
  /** 1 asks, 2 answers. */
  readonly operation?: number;
  readonly transactionId?: number;
  readonly hardwareAddress?: readonly number[];
  readonly options: readonly (readonly [code: number, value: readonly number[]])[];
  /** What stands where the name of a file would. */
  readonly file?: readonly number[];
  readonly serverName?: readonly number[];
}

/** The fabric as Azure names it: 168.63.129.16. */
export const fabricBytes = [0xa8, 0x3f, 0x81, 0x10] as const;

const field = (length: number, bytes: readonly number[] = []): number[] => [
  ...bytes,
  ...Array<number>(length - bytes.length).fill(0),
];

/** The options of a message, with an end behind them. */
export const writtenOptions = (options: WrittenMessage['options']): number[] => [
  ...options.flatMap(([code, value]) => [code, value.length, ...value]),
  255,
];

export function writtenMessage(message: WrittenMessage): Uint8Array {
  const id = Buffer.alloc(4);
  id.writeUInt32BE(message.transactionId ?? 0);
  const hardwareAddress = message.hardwareAddress ?? [];
  return Uint8Array.from([
    message.operation ?? 2,
    1,
    hardwareAddress.length,
    0,
    ...id,
    // Seconds, flags, and the addresses of the client, of the server and of a relay.
    ...field(20),
    ...field(16, hardwareAddress),
    ...field(64, message.serverName),
    ...field(128, message.file),
    ...[0x63, 0x82, 0x53, 0x63],
    ...writtenOptions(message.options),
  ]);
}

/** An offer to whoever asked. @param changes what is otherwise than it should be */
export const offerTo = (question: Uint8Array, changes: Partial<WrittenMessage> = {}): Uint8Array =>
  writtenMessage({
    transactionId: Buffer.from(question).readUInt32BE(4),
    hardwareAddress: [...question.subarray(28, 28 + (question[2] ?? 0))],
    options: [
      [53, [2]],
      [54, [127, 0, 0, 1]],
      [245, fabricBytes],
    ],
    ...changes,
  });

/**
 * A server on 127.0.0.1 that keeps the questions.
 * @param answersTo what it sends back to a question, of which it is the `count`th
 */
export async function openDhcpServer(
  answersTo: (question: Uint8Array, count: number) => readonly Uint8Array[],
) {
  const socket = createSocket('udp4');
  const questions: Uint8Array[] = [];
  socket.on('message', (question, { address, port }) => {
    questions.push(question);
    for (const answer of answersTo(question, questions.length)) socket.send(answer, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  return {
    address: `127.0.0.1:${port}`,
    questions,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}
