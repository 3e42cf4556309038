// Writes every field of every frame, as the service does; rhea leaves trailing ones out.
import type { AmqpConnection, Performative } from './amqp.ts';

/** Fields of each performative, AMQP 1.0 part 2.7, by descriptor. */
const fieldCounts: ReadonlyMap<number, number> = new Map([
  [0x10, 10],
  [0x11, 8],
  [0x12, 14],
  [0x13, 11],
  [0x14, 11],
  [0x15, 6],
  [0x16, 3],
  [0x17, 1],
  [0x18, 1],
]);

const BEGIN = 0x11;
const ATTACH = 0x12;

function pad(frame: Performative): void {
  const descriptor = frame.constructor.descriptor.numeric;
  // pyamqp calls methods of what it finds there: null will not do for these two.
  if (descriptor === BEGIN) frame.handle_max ??= 255;
  if (descriptor === ATTACH) frame.properties ??= {};
  frame.value.length = Math.max(frame.value.length, fieldCounts.get(descriptor) ?? 0);
}

/** For clients that look for a field by its place, such as Python's pyamqp. */
export function padFrames(connection: AmqpConnection): void {
  const write = connection._write_frame.bind(connection);
  connection._write_frame = (channel, frame, payload) => {
    if (frame !== undefined) pad(frame);
    write(channel, frame, payload);
  };
}
