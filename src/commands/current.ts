// `seb current`: what the instance metadata service says now, asked once.
import { existsSync } from 'node:fs';
import { openImds } from '../agent/imds.ts';
import { agentSettingsFor, readAgentSettings } from '../agent/settings.ts';
import { parseConfiguration } from '../config/load.ts';
import { type Standing, standingOf } from './approve/standing.ts';
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
    'NOTBEFORE is when the event starts by itself; empty once it has started. APPROVER says who may let it start before, and APPROVAL what the rules of this VM do about it, as if it were seen now for the first time.',
    'Asking switches Scheduled Events on for the VM for a day, and the very first answer may take two minutes: see "seb agent --help" for what that changes.',
  ],
  async run(context) {
    const settings = await settingsFor(context);
    const { imds } = settings;
    using client = openImds(imds);
    const poll = await client.poll(imds.firstTimeout, context.signal);
    if (poll.status === 'document') {
      const { events, incarnation } = poll.document;
      const rows = events.length === 0 ? [] : await standingOf(events, { client, settings, context });
      await printRows(context, columns, rows, nothingIn(incarnation));
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

const columns: readonly Column<Standing>[] = [
  { name: 'eventId', heading: 'EVENT', value: ({ event }) => event.eventId },
  { name: 'eventType', heading: 'TYPE', value: ({ event }) => event.eventType },
  { name: 'eventStatus', heading: 'STATUS', value: ({ event }) => event.eventStatus },
  { name: 'eventSource', heading: 'SOURCE', value: ({ event }) => event.eventSource },
  // When it starts by itself, unless it is approved before.
  { name: 'notBefore', value: ({ event }) => event.notBefore },
  {
    name: 'durationSeconds',
    heading: 'SECONDS',
    value: ({ event }) => event.durationSeconds,
    align: 'right',
  },
  { name: 'resources', value: ({ event }) => event.resources, elastic: true },
  { name: 'description', value: ({ event }) => event.description, elastic: true },
  // Whoever is about to approve reads these: nothing may cut them short.
  { name: 'approver', value: ({ approver }) => approver, elastic: 'in-lines' },
  { name: 'approval', value: ({ approval }) => approval, elastic: 'in-lines' },
];
