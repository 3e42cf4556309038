// `seb current`: what the instance metadata service says now, asked once.
import { existsSync } from 'node:fs';
import { openImds } from '../agent/imds.ts';
import { agentSettingsFor, readAgentSettings } from '../agent/settings.ts';
import { parseConfiguration } from '../config/load.ts';
import type { ScheduledEvent } from '../core/document.ts';
import { type CommandContext, defineCommand, textOption } from './command.ts';
import { complaintOf } from './complaint.ts';
import { chosenFile, fileOption } from './program.ts';
import { type Column, outputOptions, printRows } from './table.ts';

export const current = defineCommand({
  name: 'current',
  summary: 'Says what the instance metadata service announces for this VM now.',
  options: {
    ...fileOption('agent'),
    endpoint: { type: 'string', value: 'URL', description: 'Where to ask, instead of what the file says.' },
    ...outputOptions,
  },
  examples: [
    { line: 'current', shows: 'the events that Azure announces to this VM' },
    {
      line: 'current --endpoint http://127.0.0.1:8169 -o json',
      shows: 'what an emulator announces, as JSON',
    },
  ],
  notes: [
    'Asking switches Scheduled Events on for the VM for a day, and the very first answer may take two minutes: see "seb agent --help" for what that changes.',
  ],
  async run(context) {
    const { imds } = await settingsFor(context);
    using client = openImds(imds);
    const poll = await client.poll(imds.firstTimeout, context.signal);
    if (poll.status === 'document') {
      await printRows(context, columns, poll.document.events, nothingIn(poll.document.incarnation));
      return 0;
    }
    context.stderr.write(`seb: ${imds.endpoint} ${complaintOf(poll)}\n`);
    return 1;
  },
});

/** The file's settings when there is a file, or the usual ones. */
async function settingsFor(context: CommandContext) {
  const path = chosenFile(context, 'agent');
  const endpoint = textOption(context, 'endpoint');
  const asked = textOption(context, 'config') !== undefined || existsSync(path);
  if (endpoint === undefined && asked) return await readAgentSettings(path);
  const text = JSON.stringify({ imds: { endpoint } });
  return parseConfiguration(text, '--endpoint', await agentSettingsFor());
}

const nothingIn = (incarnation: string | null): string =>
  `nothing is announced${incarnation === null ? '' : ` (incarnation ${incarnation})`}`;

const columns: readonly Column<ScheduledEvent>[] = [
  { name: 'eventId', value: ({ eventId }) => eventId },
  { name: 'eventType', value: ({ eventType }) => eventType },
  { name: 'eventStatus', value: ({ eventStatus }) => eventStatus },
  { name: 'eventSource', value: ({ eventSource }) => eventSource },
  { name: 'notBefore', value: ({ notBefore }) => notBefore },
  { name: 'durationSeconds', value: ({ durationSeconds }) => durationSeconds, align: 'right' },
  { name: 'resources', value: ({ resources }) => resources, elastic: true },
  { name: 'description', value: ({ description }) => description, elastic: true },
];
