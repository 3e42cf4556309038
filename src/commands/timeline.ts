// `seb timeline`: one event, with every figure that can be had of it, and its story in the order of time.
import { type TrailReader, TrailUnusable } from '../audit/store.ts';
import { type Timeline, timelineOf } from '../core/timeline.ts';
import { type CommandContext, defineCommand, textOption, UsageError } from './command.ts';
import { jsonText } from './json-text.ts';
import { chosenZone, zoneOptions } from './moment.ts';
import { timelineJson } from './timeline-json.ts';
import { plainText, printSheet } from './timeline-sheet.ts';
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
      line: 'timeline c7061bac --trail ./trail.db -o json',
      shows: 'the same, for a program',
    },
  ],
  notes: [
    'A value with ~ was inferred or estimated; docs/timeline.md defines every figure, and says what nobody can know.',
    'EVENT_ID in any case, or its first 8 characters or more. "seb events" lists the ids of events.',
  ],
  async run(context) {
    const json = asJson(context);
    const zone = chosenZone(context);
    const [eventId] = context.operands;
    if (eventId === undefined)
      throw new UsageError('timeline takes the id of an event: seb timeline EVENT_ID');
    try {
      const told = await askTrail(context, eventId);
      if ('complaint' in told) {
        context.stderr.write(`seb: ${told.complaint}\n`);
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

type Complaint = { readonly complaint: string };

/** @param wanted the id of an event, or its beginning */
async function askTrail(context: CommandContext, wanted: string): Promise<Timeline | Complaint> {
  await using trail = await openChosenTrail(context);
  const whole = await trail.timeline(wanted);
  if (whole !== null) return timelineOf(whole, Date.now());
  const found = await idBeginning(trail, wanted);
  if (typeof found !== 'string') return found;
  const parts = await trail.timeline(found);
  return parts === null ? unknownEvent(wanted) : timelineOf(parts, Date.now());
}

// The beginning of an EventId that no two events share, as long as Azure gives random ones.
const idLengthMin = 8;
const idsShownMax = 5;

/** @returns the only id that begins like this, or why there is none */
async function idBeginning(trail: TrailReader, wanted: string): Promise<string | Complaint> {
  if (wanted.length < idLengthMin) {
    return {
      complaint: `the trail knows no event "${wanted}": give the id, or its first ${idLengthMin} characters or more`,
    };
  }
  const ids = await trail.eventIds(wanted, idsShownMax + 1);
  const [first] = ids;
  if (first === undefined) return unknownEvent(wanted);
  if (ids.length === 1) return first;
  const shown = ids.slice(0, idsShownMax).map(plainText).join(', ');
  const [count, end] = ids.length > idsShownMax ? [`more than ${idsShownMax}`, ', …'] : [ids.length, ''];
  return {
    complaint: `${count} events begin with "${wanted}": give more of the one that you mean: ${shown}${end}`,
  };
}

const unknownEvent = (wanted: string): Complaint => ({
  complaint: `the trail knows no event "${wanted}": "seb events" lists the ids`,
});

/** @throws UsageError */
function asJson(context: CommandContext): boolean {
  const format = textOption(context, 'output');
  if (format === undefined || format === 'json') return format === 'json';
  throw new UsageError(`--output takes json, not "${format}"`);
}

const printText = (context: CommandContext, text: string): Promise<void> =>
  new Promise((resolve) => context.stdout.write(text, () => resolve()));
