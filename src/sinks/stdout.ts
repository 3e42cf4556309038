// Writes records to standard output, one JSON line each.
import * as z from 'zod';
import { dataPolicy, type Outcome } from '../core/delivery.ts';
import { openLane } from './lane.ts';
import { defineSink, type Sink, streamFilter } from './sink.ts';

const newline = Buffer.from('\n');
// A reader that takes nothing for so long is no reader at the moment.
const timeoutMs = 15_000;

export const stdout = defineSink({
  type: 'stdout',
  summary: 'Writes each record as a JSON line to standard output.',
  settings: z.strictObject({}),
  filter: streamFilter,
  policy: dataPolicy,
  open: () => openStdout(),
});

function openStdout(): Sink {
  const lane = openLane(timeoutMs);
  return {
    // One write per line: a record and its line end never come apart.
    send: ({ record, bytes }, signal) =>
      lane.run(record.id, () => write(Buffer.concat([bytes, newline])), signal),
    check: async () =>
      process.stdout.writable
        ? { ok: true, detail: 'standard output is open' }
        : { ok: false, detail: 'standard output is closed' },
    [Symbol.asyncDispose]: () => lane[Symbol.asyncDispose](),
  };
}

/** Settles when the operating system took the line: whoever waits for it feels a slow reader. */
function write(line: Buffer): Promise<Outcome> {
  const stream = process.stdout;
  return new Promise((resolve) => {
    // Without a listener, a reader that went away would end the whole program.
    const swallow = () => undefined;
    stream.once('error', swallow);
    stream.write(line, (error) => {
      setImmediate(() => stream.off('error', swallow));
      resolve(error ? { status: 'retryable', reason: 'broken-pipe' } : { status: 'delivered' });
    });
  });
}
