// Whether keys go where the SDK's own hash sends them.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { partitionOfKey } from '../../../src/emulators/eventhubs/partition-hash.ts';

// The SDK keeps its hash to itself: no export leads there, so the file is loaded by its place.
const require = createRequire(import.meta.url);
const sdkFolder = dirname(require.resolve('@azure/event-hubs'));
const { mapPartitionKeyToId } = require(join(sdkFolder, 'impl/partitionKeyToIdMapper.js')) as {
  mapPartitionKeyToId(key: string, count: number): number;
};

it('gives every key the partition that the SDK gives it', () => {
  const key = fc.string({ unit: 'grapheme', maxLength: 60 });
  fc.assert(
    fc.property(key, fc.integer({ min: 1, max: 1_024 }), (text, count) => {
      expect(partitionOfKey(text, count)).toBe(mapPartitionKeyToId(text, count));
    }),
    { numRuns: 2_000 },
  );
});

it('does so at every length around the blocks of the hash', () => {
  for (let length = 0; length < 60; length++) {
    const key = 'abcdefghijkl'.repeat(5).slice(0, length);
    expect(partitionOfKey(key, 1_000), key).toBe(mapPartitionKeyToId(key, 1_000));
  }
});
