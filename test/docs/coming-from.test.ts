// Whether docs/coming-from.md is true: its configurations do what it says of them, and its fields are where it says.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { registry } from '../../src/commands/registry.ts';
import { parseConfiguration } from '../../src/config/load.ts';
import { consumerSettingsFor } from '../../src/consumer/settings.ts';
import { type ApprovalSubject, decideApproval } from '../../src/core/approval.ts';
import type { ScheduledEvent } from '../../src/core/document.ts';
import { sampleRecords } from '../../src/core/sample-records.ts';
import { codeBlocks, pageText } from '../support/markdown.ts';
import { agentSettings } from '../support/sink-kinds.ts';

const page = pageText('docs/coming-from.md');

/** What stands under a heading. */
const part = (heading: string): string =>
  page.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';

const agentFilesUnder = (heading: string) =>
  [...part(heading).matchAll(/^```yaml\n(# agent\.yaml\n[\s\S]*?)^```$/gm)].map(([, text = '']) =>
    parseConfiguration(text, 'agent.yaml', agentSettings),
  );

const event: ScheduledEvent = {
  eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  eventType: 'Reboot',
  eventStatus: 'Scheduled',
  eventSource: 'Platform',
  resourceType: 'VirtualMachine',
  resources: ['web1'],
  notBefore: '2026-11-10T22:26:58Z',
  description: '',
  durationSeconds: null,
};

/** What the agent of web1 does about an event, as the `at`th file under a heading has it. */
function decision(
  heading: string,
  at: number,
  {
    hooks: preparation = 'none',
    ...changes
  }: Partial<ScheduledEvent> & {
    readonly hooks?: ApprovalSubject['preparation'];
  },
): string {
  const { approval } = agentFilesUnder(heading)[at] ?? {};
  if (approval?.enabled !== true) return 'approval is off';
  const subject = {
    event: { ...event, ...changes },
    notBefore: event.notBefore,
    firstSeenAt: Date.parse('2026-11-10T22:11:58Z'),
    approved: false,
    vmName: 'web1',
    preparation,
    undelivered: [],
  };
  const decided = decideApproval(subject, approval, Date.parse('2026-11-10T22:12:00Z'));
  return decided.status === 'refused' ? decided.reason : decided.status;
}

const node = 'The sample in Node';
const manager = 'azure-scheduledevents-manager';
const scripts = 'The scripts of CycleCloud';
const terminate = 'Terminate notification of scale sets';

describe('the configuration', () => {
  it('is for one of the programs in every block, and the program takes it', async () => {
    const schemas = { agent: agentSettings, consumer: await consumerSettingsFor() };
    const blocks = codeBlocks('docs/coming-from.md', 'yaml');
    expect(blocks.length).toBeGreaterThan(10);
    for (const { text } of blocks) {
      const program = /^# (agent|consumer)\.yaml\n/.exec(text)?.[1] as keyof typeof schemas | undefined;
      expect(program, text).toBeDefined();
      if (program !== undefined) parseConfiguration(text, `${program}.yaml`, schemas[program]);
    }
  });

  const decided: readonly (readonly [
    heading: string,
    at: number,
    what: string,
    given: Partial<ScheduledEvent> & { readonly hooks?: ApprovalSubject['preparation'] },
    expected: string,
  ])[] = [
    [node, 0, 'any event that names this VM', {}, 'approve'],
    [node, 0, 'an event of another VM', { resources: ['web10'] }, 'nothing'],
    [node, 0, 'an event that names this VM second', { resources: ['a', 'web1'] }, 'waiting'],
    [node, 1, 'what somebody asked for', { eventSource: 'User' }, 'approve'],
    [node, 1, 'a freeze of 8 s', { eventType: 'Freeze', durationSeconds: 8 }, 'approve'],
    [node, 1, 'a freeze of 9 s', { eventType: 'Freeze', durationSeconds: 9 }, 'no-rule'],
    [node, 1, 'a freeze of nobody knows how long', { eventType: 'Freeze' }, 'no-rule'],
    [node, 1, 'a reboot by Azure', {}, 'no-rule'],
    ['The Windows service in PowerShell', 0, 'an event of another VM', { resources: ['web2'] }, 'nothing'],
    [terminate, 0, 'its own end, prepared for', { eventType: 'Terminate', hooks: 'succeeded' }, 'approve'],
    [
      terminate,
      0,
      'its own end, not prepared for',
      { eventType: 'Terminate', hooks: 'failed' },
      'prepare-failed',
    ],
    [
      terminate,
      0,
      'the end of two',
      { eventType: 'Terminate', resources: ['web1', 'a'] },
      'terminates-others',
    ],
    [terminate, 0, 'a reboot', { hooks: 'succeeded' }, 'no-rule'],
    [manager, 0, 'a reboot, drained for', { hooks: 'succeeded' }, 'approve'],
    [manager, 0, 'a reboot that no drain was made for', { hooks: 'failed' }, 'prepare-failed'],
    [manager, 0, 'a freeze', { eventType: 'Freeze' }, 'no-rule'],
    [scripts, 0, 'an event whose script runs', { hooks: 'pending' }, 'waiting'],
    [scripts, 0, 'an event without a script', {}, 'approve'],
    [scripts, 0, 'an event of two VMs', { resources: ['web1', 'a'], hooks: 'succeeded' }, 'shared'],
  ];

  it.each(decided)('under "%s" (%i) decides about %s', (heading, at, _, given, expected) => {
    expect(decision(heading, at, given)).toBe(expected);
  });

  it.each([
    'Central logging to Event Hubs in Python',
    'Discovery and clients in Python, C# and PowerShell',
    'The VM extension for Event Grid',
    'The demo with Logic Apps and ServiceNow',
    'aks-node-termination-handler',
    'azure-events-az of Pacemaker',
  ])('under "%s" approves nothing', (heading) => {
    const files = agentFilesUnder(heading);
    expect(files.length).toBeGreaterThan(0);
    expect(files.map(({ approval }) => approval.enabled)).toEqual(files.map(() => false));
  });
});

describe('the tables of fields', () => {
  const tables = [...page.matchAll(/^\| Its field \|.*\n\|.*\n((?:\|.*\n)+)/gm)].map(([, rows = '']) =>
    rows
      .trim()
      .split('\n')
      .map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, ''))),
  );
  const [central = []] = tables;

  it('name every field that the central logging sends', () => {
    const url = new URL('../fixtures/imds/70-central-logging-sample-record.json', import.meta.url);
    const sent = Object.keys(JSON.parse(readFileSync(url, 'utf8')));
    expect(central.map(([theirs]) => theirs?.replaceAll('`', ''))).toEqual(sent);
  });

  it('lead to what our records have', () => {
    const ours = [...page.matchAll(/^\|[^|\n]*\| `([a-z][\w.]*)` \|/gm)].map(([, path = '']) => path);
    const paths = ours.filter((path) => path.startsWith('data.') || topLevel.includes(path));
    expect(tables).toHaveLength(3);
    expect(paths.length).toBeGreaterThanOrEqual(tables.flat().length);
    const missing = paths.filter((path) => !sampleRecords().some((record) => has(record, path.split('.'))));
    expect(missing).toEqual([]);
  });
});

const topLevel = ['id', 'type', 'time', 'subject', 'dataschema', 'severitytext'];

function has(value: unknown, [name, ...rest]: readonly string[]): boolean {
  // A record of a VM whose resource id is not known has no subject.
  if (name === 'subject') return true;
  if (name === undefined) return true;
  return typeof value === 'object' && value !== null && name in value
    ? has((value as Record<string, unknown>)[name], rest)
    : false;
}

it('names only commands that there are', () => {
  const named = [...page.matchAll(/`(?:sudo )?seb ([a-z]+(?: [a-z]+)?)/g)].map(([, words = '']) => words);
  const known = registry.map(({ name }) => name);
  expect(named.length).toBeGreaterThan(5);
  expect(
    named.filter((words) => !known.includes(words) && !known.includes(words.split(' ')[0] ?? '')),
  ).toEqual([]);
});
