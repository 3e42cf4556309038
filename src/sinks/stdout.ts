// Writes records to standard output, one JSON line each.
import type { Writable } from 'node:stream';
import * as z from 'zod';
import { dataPolicy, type Outcome } from '../core/delivery.ts';
import { defineSink, type Sink, streamFilter } from './sink.ts';
import { openTurns } from './turns.ts';

const newline = Buffer.from('\n');
// A reader that takes nothing for so long is no reader at the moment.
const patienceMs = 15_000;

export const stdout = defineSink({
  type: 'stdout',
  summary: 'Writes each record as a JSON line to standard output.',
  settings: z.strictObject({}),
  filter: streamFilter,
  policy: dataPolicy,
  open: () => openStreamSink(process.stdout),
});

/**
 * A sink that writes lines to a stream and leaves it open.
 * @param timeoutMs how long a reader may take for one line
 */
export function openStreamSink(stream: Writable, timeoutMs = patienceMs): Sink {
  const turns = openTurns(timeoutMs);
  return {
    send: ({ record, bytes }, signal) => turns.run(record.id, () => writeLine(stream, bytes), signal),
    check: async () =>
      stream.writable
        ? { ok: true, detail: 'the stream is open' }
        : { ok: false, detail: 'nobody reads the stream' },
    [Symbol.asyncDispose]: () => turns[Symbol.asyncDispose](),
  };
}

/** Settles when the operating system took the line: whoever waits for it feels a slow reader. */
function writeLine(stream: Writable, bytes: Buffer): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  // Without a listener, a reader that went away would end the whole program.
  const ignore = () => undefined;
  stream.on('error', ignore);
  // One write: a record and its line end never come apart.
  stream.write(Buffer.concat([bytes, newline]), (error) => {
    resolve(error ? { status: 'retryable', reason: 'broken-pipe' } : { status: 'delivered' });
    // The stream tells of the error after it told the callback.
    setImmediate(() => stream.off('error', ignore));
  });
  return promise;
}
