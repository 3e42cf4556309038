// Every document that somebody published, read: what stands in it comes out, and nothing else.
import { describe, expect, test } from 'vitest';
import { readDocument, type ScheduledEvent } from '../../src/core/document.ts';
import { documentOf, fixtureNames, fixtureText, goodDocument } from '../support/documents.ts';

/** What an entry of api-version 2017-08-01 says; later versions say more. */
const event = (eventId: string, eventType: string, eventStatus: string): ScheduledEvent => ({
  eventId,
  eventType,
  eventStatus,
  eventSource: null,
  resourceType: 'VirtualMachine',
  resources: [],
  notBefore: null,
  description: null,
  durationSeconds: null,
});

const liveMigration: ScheduledEvent = {
  ...event('C7061BAC-AFDC-4513-B24B-AA5F13A16123', 'Freeze', 'Scheduled'),
  eventSource: 'Platform',
  resources: ['WestNO_0', 'WestNO_1'],
  notBefore: '2022-04-11T22:26:58Z',
  description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
  durationSeconds: 5,
};

const roles = ['FrontEnd_IN_0', 'BackEnd_IN_0'];

const documents: Readonly<Record<string, readonly [string, ...ScheduledEvent[]]>> = {
  '01-empty-incarnation-190.json': ['190'],
  '02-two-reboots-scheduled-incarnation-192.json': [
    '192',
    {
      ...event('28512AF7-C957-4500-9BC4-842D6FB531E4', 'Reboot', 'Scheduled'),
      resources: ['sample_4'],
      notBefore: '2018-01-24T21:20:44Z',
    },
    {
      ...event('A626E37F-793E-44E1-89B5-99AE0B96044C', 'Reboot', 'Scheduled'),
      resources: ['sample_1'],
      notBefore: '2018-01-24T21:20:44Z',
    },
  ],
  '03-livemigration-1-empty.json': ['1'],
  '04-livemigration-2-scheduled.json': ['2', liveMigration],
  '05-livemigration-3-started.json': ['3', { ...liveMigration, eventStatus: 'Started', notBefore: null }],
  '06-livemigration-4-empty.json': ['4'],
  '07-user-reboot-scheduled-2020-07-01.json': [
    '2',
    {
      ...event('4CAEA225-A741-474D-A72E-428C86FCD853', 'Reboot', 'Scheduled'),
      eventSource: 'User',
      resources: ['flatcar-vm1'],
      notBefore: '2021-07-22T04:50:17Z',
      description: '',
    },
  ],
  '08-user-reboot-after-ack-incarnation-4.json': ['4'],
  '09-freeze-started-incarnation-208.json': [
    '208',
    {
      ...event('D3D9DFEC-1DCA-4B49-97AA-780E02F45DFE', 'Freeze', 'Started'),
      eventSource: 'Platform',
      resources: ['aks-nodepool1-21922338-vmss_47'],
      description: 'Host server is undergoing maintenance.',
    },
  ],
  '11-freeze-started-6s-incarnation-32.json': [
    '32',
    {
      ...event('3474C1DD-0917-49F4-85F7-84B9E366719B', 'Freeze', 'Started'),
      eventSource: 'Platform',
      resources: ['regular-node-30975042-vmss_6'],
      description: 'Host server is undergoing maintenance.',
      durationSeconds: 6,
    },
  ],
  '15-freeze-scheduled-empty-description-incarnation-7.json': [
    '7',
    {
      ...event('FE88BA46-96D4-432E-8AED-89A0F0E52D99', 'Freeze', 'Scheduled'),
      eventSource: 'Platform',
      resources: ['aks-spotcpu2m8-23666972-vmss_862'],
      notBefore: '2023-06-30T22:00:16Z',
      description: '',
      durationSeconds: 30,
    },
  ],
  '16-preempt-scheduled-2019-08-01.json': [
    '1',
    {
      ...event('A123BC45-1234-5678-AB90-ABCDEF123456', 'Preempt', 'Scheduled'),
      eventSource: 'Platform',
      resources: ['myspotvm'],
      notBefore: '2021-03-16T00:58:46Z',
      description: '',
    },
  ],
  '18-preempt-scheduled-vmss-2019-08-01.json': [
    '1',
    {
      ...event('51941B56-8080-45AC-81AE-8BDA818F5958', 'Preempt', 'Scheduled'),
      eventSource: 'Platform',
      resources: ['aks-workloads1-15413341-vmss_3'],
      notBefore: '2024-03-16T19:52:09Z',
      description: '',
    },
  ],
  '19-redeploy-scheduled-2017-08-01.json': [
    '1',
    {
      ...event('72E160B5-6F75-40FA-BD4C-0C7FA2318A51', 'Redeploy', 'Scheduled'),
      resources: ['VM-SE-Server02'],
      notBefore: '2019-01-17T05:57:06Z',
    },
  ],
  '20-reboot-scheduled-availabilityset-2017-08-01.json': [
    '1',
    {
      ...event('8A506C35-679A-4F78-9D76-C16DBE65EE6F', 'Reboot', 'Scheduled'),
      resources: ['aks-nodepool1-34166363-1'],
      notBefore: '2018-11-26T10:52:34Z',
    },
  ],
  '26-terminate-constructed.json': [
    '1',
    {
      ...event('C37355DB-2C23-4195-90CA-1A712A85650C', 'Terminate', 'Scheduled'),
      eventSource: 'User',
      resources: ['myScaleSet_13'],
      notBefore: '2021-02-09T08:15:00Z',
      description: '',
    },
  ],
  '27-terminate-synthetic-string-incarnation.json': [
    'abc123',
    {
      ...event('123', 'Terminate', 'Scheduled'),
      resources: ['nodename'],
      notBeforeText: '20170702',
    },
  ],
  '28-webdevops-examples-events.json': [
    '5',
    ...(
      [
        ['102d9444-d2cd-49c7-8624-8643e7171291', [], '2019-09-19T18:29:47Z'],
        ['202d9444-d2cd-49c7-8624-8643e7171291', ['Foobar'], '2019-09-19T18:29:47Z'],
        ['302d9444-d2cd-49c7-8624-8643e7171291', roles, '2019-09-19T18:29:47Z'],
        ['402d9444-d2cd-49c7-8624-8643e7171292', roles, '2018-07-01T19:31:29Z'],
        ['502d9444-d2cd-49c7-8624-8643e7171293', roles, '2018-12-19T18:29:47Z'],
        ['602d9444-d2cd-49c7-8624-8643e7171293', roles, null],
      ] as const
    ).map(([eventId, resources, notBefore]) => ({
      ...event(eventId, 'Reboot', notBefore === null ? 'Started' : 'Scheduled'),
      resources,
      notBefore,
    })),
  ],
  '29-aks-nth-testdata.json': [
    '1',
    {
      ...event('602d9444-d2cd-49c7-8624-8643e7171297', 'Reboot', 'Scheduled'),
      eventSource: 'Platform',
      resources: ['FrontEnd_IN_0', 'aks-spotcpu2d2as-24469130-vmss_1'],
      notBefore: '2016-09-19T18:29:47Z',
      description: 'Host server is undergoing maintenance',
    },
  ],
};

const noEvents = { status: 'unreadable', reason: 'the body has no Events list' };

const others: Readonly<Record<string, object>> = {
  '23-event-only-user-reboot-2020-07-01.json': noEvents,
  '25-terminate-partial-capture.txt': { status: 'unreadable', reason: 'the body is not JSON' },
  '30-empty-body-first-call.txt': { status: 'empty' },
  '40-eventgrid-scheduledeventemitted-started.json': noEvents,
  '50-imds-instance-compute.json': noEvents,
  '51-imds-error-missing-version.json': noEvents,
  '60-approve-request.json': noEvents,
  '61-approve-request-2017-03-01.json': noEvents,
  '70-central-logging-sample-record.json': noEvents,
};

describe('the published documents', () => {
  test('are all listed here', () => {
    expect([...Object.keys(documents), ...Object.keys(others)].sort()).toEqual([...fixtureNames()].sort());
  });

  test.each(Object.entries(documents))('%s reads without loss', (name, [incarnation, ...events]) => {
    expect(goodDocument(fixtureText(name))).toStrictEqual({
      incarnation,
      events,
      partial: false,
    });
  });

  test.each(Object.entries(others))('%s is no document', (name, reading) => {
    expect(readDocument(fixtureText(name))).toEqual(reading);
  });

  test('that quote one event, or that of Event Grid, read as an entry of a document', () => {
    const quoted = JSON.parse(fixtureText('23-event-only-user-reboot-2020-07-01.json')) as object;
    const pushed = JSON.parse(fixtureText('40-eventgrid-scheduledeventemitted-started.json')) as {
      data: { resourceInfo: { properties: object } };
    };
    const document = documentOf([quoted, pushed.data.resourceInfo.properties]);
    expect(document.events).toStrictEqual([
      {
        ...event('CA9C0DC4-E841-476D-94D5-9FC2FF983BCD', 'Reboot', 'Scheduled'),
        eventSource: 'User',
        resources: ['longevity-10gb-3h-master-db-node-eastus-2'],
        notBefore: '2023-03-16T14:01:28Z',
        description: 'Virtual machine is going to be restarted as requested by authorized user.',
      },
      {
        ...liveMigration,
        eventId: '3da1b9aa-5204-4335-8c33-c54e315dcffe',
        eventStatus: 'Started',
        resources: ['myvmss_1', 'myvmss_2'],
        notBefore: '2025-09-19T18:29:47Z',
      },
    ]);
  });

  test('call a NotBefore that is no time by its name', () => {
    const reading = readDocument(fixtureText('27-terminate-synthetic-string-incarnation.json'));
    expect(reading).toMatchObject({ oddities: ['NotBefore of 123 is not a time'] });
  });
});
