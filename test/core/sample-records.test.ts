// The made-up records: one of each kind, and each as a real one would be.
import { expect, test } from 'vitest';
import { readRecord } from '../../src/core/read-record.ts';
import { encodeRecord, familyOf } from '../../src/core/record.ts';
import { sampleDeeds, sampleRecords } from '../../src/core/sample-records.ts';

test('there is one sample for each transition', () => {
  const transitions = sampleRecords().map(({ data }) => data.transition);
  expect(transitions).toEqual(['scheduled', 'updated', 'started', 'completed', 'canceled']);
});

test('there is one sample for each deed', () => {
  expect(sampleDeeds().map(({ type }) => familyOf(type))).toEqual(['hook', 'approval', 'impact']);
});

test('every sample can be read as a record', () => {
  for (const record of [...sampleRecords(), ...sampleDeeds()]) {
    expect(readRecord(encodeRecord(record))).toMatchObject({ status: 'record', record: { id: record.id } });
  }
});

test('the samples are the same every time', () => {
  expect([sampleRecords(), sampleDeeds()]).toEqual([sampleRecords(), sampleDeeds()]);
});
