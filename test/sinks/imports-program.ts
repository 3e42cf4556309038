// A program that opens sinks, sends one record to each, and prints which packages it had loaded by then.
import { registerHooks } from 'node:module';
import { openPassingMemory } from '../../src/sinks/memory.ts';

const packages = new Set<string>();
registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context);
    const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(resolved.url)?.[1];
    if (name !== undefined) packages.add(name);
    return resolved;
  },
});

const { loadSinkKinds } = await import('../../src/sinks/index.ts');
const { outgoing, sampleRecord } = await import('../support/records.ts');

const context = { imdsEndpoint: 'http://127.0.0.1:9', version: '1.0.0', memory: openPassingMemory() };
const given = JSON.parse(process.argv[2] ?? '[]') as { type: string }[];
const kinds = await loadSinkKinds(given.map(({ type }) => type));
const sinks = given.map((each) => kinds.open('under-test', kinds.settings.parse(each), context).sink);
const opened = [...packages];
for (const sink of sinks) {
  const outcome = await sink.send(outgoing(sampleRecord()), new AbortController().signal);
  if (outcome.status !== 'delivered') console.error(outcome);
}
console.log(JSON.stringify({ opened, sent: [...packages] }));
for (const sink of sinks) await sink[Symbol.asyncDispose]();
