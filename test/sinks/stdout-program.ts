// A program that sends records to its standard output for ever, and says on standard error when one fails.

import { openPassingMemory } from '../../src/sinks/memory.ts';
import { outgoing, sampleRecord } from '../support/records.ts';
import { openSink, sinkSettings } from '../support/sink-kinds.ts';

const settings = sinkSettings.parse({ type: 'stdout' });
const { sink } = openSink('console', settings, {
  imdsEndpoint: 'http://127.0.0.1:9',
  version: '1.0.0',
  memory: openPassingMemory(),
});
const stop = new AbortController().signal;
let failures = 0;
while (failures < 3) {
  const outcome = await sink.send(outgoing(sampleRecord()), stop);
  if (outcome.status !== 'delivered') failures += 1;
}
await sink[Symbol.asyncDispose]();
process.stderr.write('three failures survived\n');
