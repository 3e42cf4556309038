// The made-up records: one of each kind, and each as a real one would be.
import { expect, test } from 'vitest';
import { readRecord } from '../../src/core/read-record.ts';
import { encodeRecord } from '../../src/core/record.ts';
import { sampleRecords } from '../../src/core/sample-records.ts';

test('there is one sample for each transition', () => {
  const transitions = sampleRecords().map(({ data }) => data.transition);
  expect(transitions).toEqual(['scheduled', 'updated', 'started', 'completed', 'canceled']);
});

test('every sample can be read as a record', () => {
  for (const record of sampleRecords()) {
    expect(readRecord(encodeRecord(record))).toMatchObject({ status: 'record', record: { id: record.id } });
  }
});

test('the samples are the same every time', () => {
  expect(sampleRecords()).toEqual(sampleRecords());
});
