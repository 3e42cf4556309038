// The record: every field and its order, and how severe it is.
import { describe, expect, test } from 'vitest';
import type { TransitionKind } from '../../src/core/diff.ts';
import { observerFrom, unknownObserver } from '../../src/core/observer.ts';
import { agentRecord, encodeRecord, familyOf, severityOf } from '../../src/core/record.ts';
import { eventOf, freeze } from '../support/documents.ts';
import { documentedLife, lastRecord, stamp } from '../support/story.ts';

describe('the record of an event', () => {
  test('is to the byte what the design says', () => {
    const resourceId =
      '/subscriptions/1111/resourceGroups/rg-westno/virtualMachineScaleSets/WestNO/virtualMachines/0';
    const expected = {
      specversion: '1.0',
      id: 'c7061bac-afdc-4513-b24b-aa5f13a16123_started',
      source: 'urn:uuid:02aab8a4-74ef-476e-8182-f6d2ba4166a6',
      type: 'io.github.scheduled-events-bridge.event.started.v1',
      subject: resourceId,
      time: '2026-11-10T22:27:04.118Z',
      datacontenttype: 'application/json',
      dataschema: 'urn:scheduled-events-bridge:event:v1',
      correlationid: 'c7061bac-afdc-4513-b24b-aa5f13a16123',
      partitionkey: 'c7061bac-afdc-4513-b24b-aa5f13a16123',
      sequence: '00000000000000000042',
      severitytext: 'INFO',
      severitynumber: 9,
      data: {
        transition: 'started',
        inferred: false,
        reason: 'status',
        affected: true,
        initial: false,
        event: {
          eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
          eventType: 'Freeze',
          eventStatus: 'Started',
          eventSource: 'Platform',
          resourceType: 'VirtualMachine',
          resources: ['WestNO_0', 'WestNO_1'],
          notBefore: '2026-11-10T22:26:58Z',
          description:
            'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
          durationSeconds: 5,
        },
        previous: {},
        timeline: { scheduled: '2026-11-10T22:11:31.204Z', started: '2026-11-10T22:27:04.118Z' },
        noticeSeconds: 932,
        document: { incarnation: '3', apiVersion: '2020-07-01' },
        observer: {
          vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
          vmName: 'WestNO_0',
          resourceId,
          subscriptionId: '1111',
          resourceGroup: 'rg-westno',
          location: 'norwaywest',
          zone: null,
          vmScaleSet: 'WestNO',
          placementGroupId: 'f67c14ab',
          faultDomain: '1',
          updateDomain: '3',
          vmSize: 'Standard_D4s_v5',
          computerName: 'westno000000',
        },
        clock: { bootId: 'boot-0', pollGapMs: 1004 },
        agent: { version: '1.0.0', instanceId: '5d3bb9b2-2b3a-4c5f-9d54-0a8a9f7a5b11', sequence: 42 },
      },
    };
    expect(encodeRecord(lastRecord(documentedLife)).toString('utf8')).toBe(JSON.stringify(expected));
  });

  test('says before the event that there are 926 s of notice', () => {
    expect(lastRecord(documentedLife.slice(0, 1)).data.noticeSeconds).toBe(926);
  });

  test('has the time at which the event was first missed', () => {
    const record = lastRecord([
      ...documentedLife,
      { events: [], restart: true },
      { events: [], afterMs: 5000 },
    ]);
    expect(record).toMatchObject({
      id: 'c7061bac-afdc-4513-b24b-aa5f13a16123_completed',
      time: '2026-11-10T22:27:05.118Z',
      data: { transition: 'completed', inferred: true, reason: 'removed-after-started' },
    });
  });

  test("keeps the wire's text of a NotBefore that is no time, and the last time that was known", () => {
    const garbled = { ...freeze, NotBefore: 'soon' };
    expect(lastRecord([{ events: [freeze] }, { events: [garbled] }]).data).toMatchObject({
      event: { notBefore: '2026-11-10T22:26:58Z', notBeforeText: 'soon' },
      previous: { notBefore: '2026-11-10T22:26:58Z' },
    });
  });

  test('says what an update changed', () => {
    const moved = { ...freeze, NotBefore: 'Tue, 10 Nov 2026 22:36:58 GMT' };
    const { data } = lastRecord([{ events: [freeze] }, { events: [moved] }]);
    expect(data.previous).toEqual({ notBefore: '2026-11-10T22:26:58Z' });
    expect(data.event.notBefore).toBe('2026-11-10T22:36:58Z');
  });

  test('of a VM that does not know itself says so, and speaks for the installation', () => {
    const record = lastRecord(documentedLife, { ...stamp, observer: unknownObserver });
    expect(record.source).toBe('urn:uuid:5d3bb9b2-2b3a-4c5f-9d54-0a8a9f7a5b11');
    expect(record).not.toHaveProperty('subject');
    expect(record.data.affected).toBeNull();
  });

  test('of a VM that no resource id is known of has its name for a subject', () => {
    const observer = observerFrom({ compute: { name: 'WestNO_7' } });
    const record = lastRecord(documentedLife, { ...stamp, observer });
    expect(record).toMatchObject({ subject: 'WestNO_7', data: { affected: false } });
  });
});

describe('the record of an agent', () => {
  const at = Date.parse('2026-11-10T22:27:04.118Z');

  test('has the envelope of all records, and the VM for a correlation', () => {
    const record = agentRecord('heartbeat', at, { pending: 3 }, stamp);
    expect(Object.keys(record)).toEqual(Object.keys(lastRecord(documentedLife)));
    expect(record).toMatchObject({
      id: '5d3bb9b2-2b3a-4c5f-9d54-0a8a9f7a5b11_heartbeat_42',
      source: 'urn:uuid:02aab8a4-74ef-476e-8182-f6d2ba4166a6',
      type: 'io.github.scheduled-events-bridge.agent.heartbeat.v1',
      time: '2026-11-10T22:27:04.118Z',
      dataschema: 'urn:scheduled-events-bridge:agent:v1',
      correlationid: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
      partitionkey: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
      sequence: '00000000000000000042',
      severitytext: 'INFO',
      severitynumber: 9,
      data: { pending: 3, observer: stamp.observer, agent: stamp.agent },
    });
  });

  test('of a VM that does not know itself is correlated by the installation', () => {
    const record = agentRecord('started', at, {}, { ...stamp, observer: unknownObserver });
    expect(record.type).toBe('io.github.scheduled-events-bridge.agent.started.v1');
    expect(record.correlationid).toBe('5d3bb9b2-2b3a-4c5f-9d54-0a8a9f7a5b11');
    expect(record.partitionkey).toBe('5d3bb9b2-2b3a-4c5f-9d54-0a8a9f7a5b11');
  });
});

describe('the family of a type', () => {
  test.each([
    ['io.github.scheduled-events-bridge.event.started.v1', 'event'],
    ['io.github.scheduled-events-bridge.agent.heartbeat.v1', 'agent'],
    ['io.github.scheduled-events-bridge.approval.v1', 'approval'],
    ['io.github.scheduled-events-bridge.hook.v1', 'hook'],
    ['io.github.scheduled-events-bridge.impact.v1', 'impact'],
    ['io.github.scheduled-events-bridge.rumour.v1', null],
    ['io.github.scheduled-events-bridge', null],
    ['io.github.scheduled-events-bridgehead.event.started.v1', null],
    ['com.example.event.started.v1', null],
    ['', null],
  ])('%s is %s', (type, family) => {
    expect(familyOf(type)).toBe(family);
  });
});

describe('severity', () => {
  test.each<[string, number | null, TransitionKind, string]>([
    ['Freeze', 0, 'scheduled', 'INFO'],
    ['Freeze', 10, 'started', 'INFO'],
    ['Freeze', 10.5, 'scheduled', 'WARN'],
    ['Freeze', 30, 'updated', 'WARN'],
    ['Freeze', null, 'scheduled', 'WARN'],
    ['freeze', 5, 'scheduled', 'INFO'],
    ['Reboot', null, 'scheduled', 'WARN'],
    ['Reboot', 5, 'started', 'WARN'],
    ['Redeploy', null, 'scheduled', 'ERROR'],
    ['Preempt', null, 'scheduled', 'ERROR'],
    ['PREEMPT', null, 'started', 'ERROR'],
    ['Terminate', null, 'updated', 'ERROR'],
    ['Levitate', 5, 'scheduled', 'WARN'],
    ['', null, 'scheduled', 'WARN'],
    ['Terminate', null, 'completed', 'INFO'],
    ['Preempt', null, 'canceled', 'INFO'],
  ])('of a %s of %s s that is %s is %s', (eventType, durationSeconds, kind, severity) => {
    expect(severityOf({ ...eventOf(freeze), eventType, durationSeconds }, kind)).toBe(severity);
  });

  test.each([
    ['Freeze', 'INFO', 9],
    ['Reboot', 'WARN', 13],
    ['Terminate', 'ERROR', 17],
  ])('has the number of OpenTelemetry: %s is %s %i', (EventType, severitytext, severitynumber) => {
    expect(lastRecord([{ events: [{ ...freeze, EventType }] }])).toMatchObject({
      severitytext,
      severitynumber,
    });
  });
});
