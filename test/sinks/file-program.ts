// A program that sends a short, a very long and a short record to a file sink, and prints each outcome.

import { openPassingMemory } from '../../src/sinks/memory.ts';
import { outgoing, sampleRecord } from '../support/records.ts';
import { openSink, sinkSettings } from '../support/sink-kinds.ts';

const settings = sinkSettings.parse({ type: 'file', path: process.argv[2] });
const { sink } = openSink('local', settings, {
  imdsEndpoint: 'http://127.0.0.1:9',
  version: '1.0.0',
  memory: openPassingMemory(),
});
const stop = new AbortController().signal;
for (const length of [10, 200_000, 20]) {
  const outcome = await sink.send(outgoing(sampleRecord({ description: 'x'.repeat(length) })), stop);
  console.log('reason' in outcome ? `${outcome.status} ${outcome.reason}` : outcome.status);
}
await sink[Symbol.asyncDispose]();
