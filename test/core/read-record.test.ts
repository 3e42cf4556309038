// The reader of received bodies: whatever comes, it gives an answer.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRecord } from '../../src/core/read-record.ts';
import { agentRecord, encodeRecord } from '../../src/core/record.ts';
import { eventIdOf, freeze, observerOf, saying, synthesisAt, vmIdOf } from '../support/synthetic.ts';

const reading = (value: unknown) => readRecord(Buffer.from(JSON.stringify(value), 'utf8'));
const parkedFor = (value: unknown) => {
  const result = reading(value);
  return result.status === 'parked' ? result.reason : result.status;
};

test('an event record gives the fact, its witness and its event', () => {
  const record = saying({ kind: 'started', vm: 3, after: 5, sequence: 42 });
  expect(readRecord(encodeRecord(record))).toEqual({
    status: 'record',
    record: {
      id: record.id,
      source: `urn:uuid:${vmIdOf(3)}`,
      type: record.type,
      family: 'event',
      at: synthesisAt + 5,
      agent: {
        agentId: 'instance-3',
        sequence: 42,
        version: '1.0.0',
        observer: expect.objectContaining({ vmId: vmIdOf(3), vmName: 'web-3', faultDomain: '3', zone: null }),
      },
      event: {
        eventId: eventIdOf(0).toLowerCase(),
        transition: 'started',
        reason: 'status',
        inferred: false,
        affected: false,
        initial: false,
        eventType: 'Freeze',
        eventSource: 'Platform',
        notBefore: freeze().notBefore,
        durationSeconds: 5,
        description: freeze().description,
        vms: ['web-0', 'web-1'],
      },
      deed: null,
      self: null,
    },
  });
});

test('a record of an agent has no event', () => {
  const stamp = { observer: observerOf(1), agent: { version: '1.0.0', instanceId: 'i', sequence: 7 } };
  const result = readRecord(encodeRecord(agentRecord('heartbeat', synthesisAt, {}, stamp)));
  expect(result).toMatchObject({ status: 'record', record: { family: 'agent', event: null } });
});

test('a record that somebody sent to test a sink says nothing about the fleet, and is parked', () => {
  const stamp = { observer: observerOf(1), agent: { version: '1.0.0', instanceId: 'i', sequence: 0 } };
  const record = agentRecord('test', synthesisAt, { test: true, sink: 'fleet' }, stamp);
  expect(readRecord(encodeRecord(record))).toEqual({ status: 'parked', reason: 'test' });
});

test('what is no record is parked with the reason', () => {
  const record = saying({ kind: 'started' });
  expect(readRecord(Buffer.from([0xff, 0xfe]))).toEqual({ status: 'parked', reason: 'not-utf8' });
  expect(readRecord(Buffer.alloc(0))).toEqual({ status: 'parked', reason: 'not-json' });
  expect(parkedFor([record])).toBe('not-a-cloudevent');
  expect(parkedFor({ ...record, specversion: '0.3' })).toBe('not-a-cloudevent');
  expect(parkedFor({ ...record, id: undefined })).toBe('not-a-cloudevent');
  expect(parkedFor({ ...record, type: 'com.example.order' })).toBe('foreign-type');
  expect(parkedFor({ ...record, type: record.type.replace('.v1', '.v2') })).toBe('unknown-type');
  expect(parkedFor({ ...record, type: record.type.replace('started', 'paused') })).toBe('unknown-type');
  expect(parkedFor({ ...record, time: 'soon' })).toBe('no-time');
  expect(parkedFor({ ...record, time: '2026-11-10T22:00:00' })).toBe('no-time');
  expect(parkedFor({ ...record, data: { ...record.data, event: {} } })).toBe('no-event');
  expect(parkedFor({ ...record, id: 'x'.repeat(1_025) })).toBe('too-long');
});

test('no bytes whatsoever make the reader throw', () => {
  return fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(['record', 'parked']).toContain(readRecord(bytes).status);
    }),
  );
});

test('no JSON whatsoever in the place of any field makes the reader throw', () => {
  const fields = ['id', 'source', 'type', 'time', 'data', 'specversion'];
  const inner = ['event', 'observer', 'agent', 'affected', 'inferred', 'reason'];
  return fc.assert(
    fc.property(fc.constantFrom(...fields, ...inner), fc.jsonValue(), (field, value) => {
      const record = saying({ kind: 'completed' });
      const spoiled = inner.includes(field)
        ? { ...record, data: { ...record.data, [field]: value } }
        : { ...record, [field]: value };
      expect(['record', 'parked']).toContain(reading(spoiled).status);
    }),
    { numRuns: 500 },
  );
});

test('numbers and texts that a store could not hold are read as missing or made well-formed', () => {
  const record = saying({ kind: 'started' });
  const spoiled = {
    ...record,
    data: {
      ...record.data,
      agent: { ...record.data.agent, sequence: 1.5, version: 'a\ud800b' },
      event: { ...record.data.event, durationSeconds: '5', resources: ['web-1', 7, '', '_WEB-1'] },
    },
  };
  expect(reading(spoiled)).toMatchObject({
    status: 'record',
    record: {
      agent: { sequence: null, version: 'a\ufffdb' },
      event: { durationSeconds: null, vms: ['WEB-1'] },
    },
  });
});
