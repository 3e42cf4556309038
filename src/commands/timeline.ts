// `seb timeline`: one event, with every figure that can be had of it, and its story in the order of time.
import { TrailUnusable } from '../audit/store.ts';
import { type Timeline, timelineOf } from '../core/timeline.ts';
import { type CommandContext, defineCommand, textOption, UsageError } from './command.ts';
import { jsonText } from './json-text.ts';
import { chosenZone, zoneOptions } from './moment.ts';
import { timelineJson } from './timeline-json.ts';
import { printSheet } from './timeline-sheet.ts';
import { openChosenTrail, trailOptions } from './trail.ts';

export const timeline = defineCommand({
  name: 'timeline',
  summary:
    'Tells the story of one event: its figures, each with how sure it is, and who saw and did what when.',
  operands: 'EVENT_ID',
  options: {
    ...trailOptions,
    output: { type: 'string', short: 'o', value: 'FORMAT', description: 'json; a sheet unless given.' },
    ...zoneOptions,
  },
  examples: [
    {
      line: 'timeline c7061bac-afdc-4513-b24b-aa5f13a16123',
      shows: 'how much notice there was, who let it begin, and what it did to the VMs',
    },
    {
      line: 'timeline c7061bac-afdc-4513-b24b-aa5f13a16123 --trail ./trail.db -o json',
      shows: 'the same, for a program',
    },
  ],
  notes: [
    'A value with ~ was inferred or estimated; docs/timeline.md defines every figure, and says what nobody can know.',
    '"seb events" lists the ids of events.',
  ],
  async run(context) {
    const json = asJson(context);
    const zone = chosenZone(context);
    const [eventId] = context.operands;
    if (eventId === undefined)
      throw new UsageError('timeline takes the id of an event: seb timeline EVENT_ID');
    try {
      const told = await askTrail(context, eventId);
      if (told === null) {
        context.stderr.write(
          `seb: the trail knows no event "${eventId}": "seb events" lists the ids, which are wanted whole\n`,
        );
        return 1;
      }
      if (json) await printText(context, `${jsonText(timelineJson(told), 2)}\n`);
      else await printSheet(context, told, zone);
      return 0;
    } catch (error) {
      if (!(error instanceof TrailUnusable)) throw error;
      context.stderr.write(`seb: ${error.message}\n`);
      return 1;
    }
  },
});

async function askTrail(context: CommandContext, eventId: string): Promise<Timeline | null> {
  await using trail = await openChosenTrail(context);
  const parts = await trail.timeline(eventId);
  return parts === null ? null : timelineOf(parts, Date.now());
}

/** @throws UsageError */
function asJson(context: CommandContext): boolean {
  const format = textOption(context, 'output');
  if (format === undefined || format === 'json') return format === 'json';
  throw new UsageError(`--output takes json, not "${format}"`);
}

const printText = (context: CommandContext, text: string): Promise<void> =>
  new Promise((resolve) => context.stdout.write(text, () => resolve()));
