// What is made of the registry: settings told apart by type, filters with the defaults of their kind, late imports.

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { agentSchema } from '../../src/config/agent.ts';
import { parseConfiguration } from '../../src/config/load.ts';
import { dataPolicy } from '../../src/core/delivery.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { openInbox } from '../support/inbox.ts';
import { runNode } from '../support/process.ts';
import { sinkSettings, sinkTypes } from '../support/sink-kinds.ts';
import { openFromSettings } from './sink-contract.ts';

describe('the settings of a sink', () => {
  it('name the types there are when a type is unknown', () => {
    const read = () =>
      parseConfiguration('sinks: { a: { type: slak } }', 'agent.yaml', agentSchema(sinkSettings));
    expect(read).toThrow(
      /sinks\.a\.type: .*eventgrid, eventhubs, file, logicapps, slack, stdout, teams, webhook/,
    );
  });

  it('name the path of a setting that there is not', () => {
    const text = 'sinks: { a: { type: file, path: /x, pth: /y } }';
    expect(() => parseConfiguration(text, 'agent.yaml', agentSchema(sinkSettings))).toThrow(
      /sinks\.a: .*"pth"/,
    );
  });

  it.each([
    ['eventhubs', { connectionString: 'Endpoint=sb://x', eventHubName: 'hub' }],
    ['file', { path: '/x' }],
    ['stdout', {}],
  ])('let %s take every record of every observer', (type, given) => {
    const { filter } = sinkSettings.parse({ type, ...given });
    expect(filter).toEqual({
      observer: 'all',
      sample: 0.05,
      records: ['event', 'agent', 'approval', 'hook', 'impact', 'fleet'],
    });
  });

  it('let webhook take the events that name the VM', () => {
    const { filter } = sinkSettings.parse({ type: 'webhook', url: 'https://x.test' });
    expect(filter).toEqual({ observer: 'affected', sample: 0.05, records: ['event'] });
  });

  it('keep the defaults of what a filter leaves unsaid', () => {
    const given = { minSeverity: 'WARN', types: ['Reboot'], transitions: ['started'] };
    const { filter } = sinkSettings.parse({ type: 'webhook', url: 'https://x.test', filter: given });
    expect(filter).toEqual({ ...given, observer: 'affected', sample: 0.05, records: ['event'] });
  });

  it.each([
    { observer: 'nobody' },
    { sample: 2 },
    { minSeverity: 'DEBUG' },
    { records: [] },
    { tipes: ['x'] },
  ])('refuse the filter %j', (filter) => {
    expect(sinkSettings.safeParse({ type: 'stdout', filter }).success).toBe(false);
  });

  it('describe themselves, so that the documentation can be generated', () => {
    for (const { settings } of sinkTypes.values()) {
      for (const [name, schema] of Object.entries(settings.shape)) {
        expect(schema.meta()?.description, name).toBeTruthy();
      }
    }
  });
});

describe('an open sink', () => {
  it('says what its deliveries are judged by', () => {
    const opened = openFromSettings({ type: 'stdout' });
    expect(opened).toMatchObject({ name: 'under-test', type: 'stdout', policy: dataPolicy });
  });
});

describe('what a sink costs', () => {
  const program = fileURLToPath(new URL('imports-program.ts', import.meta.url));

  /** The packages that a process loads by opening sinks and sending one record to each. */
  async function loadedBy(...sinks: readonly object[]): Promise<Record<'opened' | 'sent', string[]>> {
    const { stdout, stderr } = await runNode([program, JSON.stringify(sinks)]);
    expect(stderr).toBe('');
    return JSON.parse(stdout);
  }

  it('is not paid before the first delivery', async () => {
    await using inbox = await openInbox();
    const { opened, sent } = await loadedBy({ type: 'webhook', url: inbox.url, allowHttp: true });
    expect([opened.includes('undici'), sent.includes('undici')]).toEqual([false, true]);
  });

  it('holds neither websockets nor an identity SDK to speak AMQP to a hub', async () => {
    await using hub = await startEventHubsEmulator();
    const { connectionString, eventHubName } = hub;
    const { opened, sent } = await loadedBy({ type: 'eventhubs', connectionString, eventHubName });
    expect(opened.filter((name) => name.startsWith('@azure/'))).toEqual([]);
    expect(sent).toContain('@azure/event-hubs');
    expect(sent).not.toContain('@azure/identity');
    expect(sent).not.toContain('ws');
  });
});
