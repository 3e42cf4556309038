// `seb audit status`: how the trail stands, at a glance; what it proves is another question.
import { openTrailReader } from '../audit/open.ts';
import { type TrailAgent, type TrailReader, TrailUnusable } from '../audit/store.ts';
import { type TrailStatus, trailStatus } from '../audit/trail-status.ts';
import { countText } from '../core/verdict.ts';
import { type CommandContext, defineCommand, textOption, UsageError } from './command.ts';
import { jsonText } from './json-text.ts';
import { chosenZone, writeAge, writeMoment, zoneOptions } from './moment.ts';
import { chosenTrailOrCopy, openChosenSource, trailOrCopyOptions } from './trail.ts';

export const auditStatus = defineCommand({
  name: 'audit status',
  summary: 'Says how the trail stands: streams, seals, anchors, gaps, what was parked, pruned or is held.',
  options: {
    ...trailOrCopyOptions,
    output: { type: 'string', short: 'o', value: 'FORMAT', description: 'json; lines unless given.' },
    ...zoneOptions,
  },
  examples: [
    { line: 'audit status -c consumer.yaml', shows: 'the trail of a consumer' },
    { line: 'audit status --trail ./export -o json', shows: 'an exported folder, for a program' },
  ],
  notes: ['This says what the trail says of itself, and recomputes nothing: "seb audit verify" does.'],
  async run(context) {
    const json = asJson(context);
    const zone = chosenZone(context);
    try {
      await using source = await openChosenSource(context);
      await using reader = await openReader(context);
      const status = await trailStatus(source, reader.trail, context.signal);
      const text = json ? `${jsonText(jsonOf(status), 2)}\n` : textOf(status, zone, Date.now());
      await new Promise<void>((resolve) => context.stdout.write(text, () => resolve()));
      return 0;
    } catch (error) {
      if (context.signal.aborted) return 130;
      if (!(error instanceof TrailUnusable)) throw error;
      context.stderr.write(`seb: ${error.message}\n`);
      return 1;
    }
  },
});

/** @throws UsageError */
function asJson(context: CommandContext): boolean {
  const format = textOption(context, 'output');
  if (format === undefined || format === 'json') return format === 'json';
  throw new UsageError(`--output takes json, not "${format}"`);
}

/** A copy in plain files answers no questions. */
async function openReader(
  context: CommandContext,
): Promise<AsyncDisposable & { readonly trail: TrailReader | null }> {
  const chosen = chosenTrailOrCopy(context);
  if (chosen.type !== 'sqlite' && chosen.type !== 'postgres') {
    return { trail: null, [Symbol.asyncDispose]: async () => undefined };
  }
  const trail = await openTrailReader(chosen);
  return { trail, [Symbol.asyncDispose]: () => trail[Symbol.asyncDispose]() };
}

const iso = (at: number): string => new Date(at).toISOString();

/** Times as RFC 3339; the names stay. */
const jsonOf = (status: TrailStatus): unknown => ({
  schema: 'seb.audit-status.v1',
  ...(JSON.parse(
    JSON.stringify(status, (name, value) =>
      ['at', 'startedAt', 'stoppedAt', 'lastAt'].includes(name) && typeof value === 'number'
        ? iso(value)
        : value,
    ),
  ) as object),
});

function textOf(status: TrailStatus, zone: string, now: number): string {
  const moment = (at: number): string => `${writeMoment(at, zone)} (${writeAge(now - at)} ago)`;
  const lines = [
    `trail ${status.trail ?? 'of no known id'} in ${status.place}`,
    ...status.streams.map(streamLine),
    status.lastSeal === null
      ? 'nothing is sealed yet'
      : `last seal: number ${status.lastSeal.index}, ${moment(status.lastSeal.at)}`,
    ...anchorLines(status, moment),
    `keys: ${status.keys.length === 0 ? 'nobody signs' : status.keys.join(' ')}`,
    ...status.consumers.map((consumer) => consumerLine(consumer, moment)),
    ...incidentLines(status, moment),
    ...keepingLines(status),
  ];
  // Names come from outside: what they hold must not steer the terminal.
  return lines.map((line) => `${line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')}\n`).join('');
}

function streamLine({ name, size, signedBy }: TrailStatus['streams'][number]): string {
  const signed = signedBy.length === 0 ? 'not signed' : `signed by ${signedBy.join(', ')}`;
  return `stream ${name}: ${countText(size)} ${size === 1 ? 'entry' : 'entries'}, ${signed}`;
}

type Moment = (at: number) => string;

function anchorLines({ anchors }: TrailStatus, moment: Moment): string[] {
  if (anchors.length === 0) return ['anchors: nothing was ever anchored'];
  return anchors.map(({ anchor, taken, failed }) => {
    const took =
      taken === null ? 'took nothing yet' : `took ${countText(taken.size)} seals, ${moment(taken.at)}`;
    return `anchor ${anchor}: ${took}${failed === null ? '' : `; failed ${moment(failed.at)}: ${failed.reason}`}`;
  });
}

function consumerLine(
  { instance, version, startedAt, stoppedAt }: TrailStatus['consumers'][number],
  moment: Moment,
) {
  const ended = stoppedAt === null ? 'no word of a stop since' : `stopped ${moment(stoppedAt)}`;
  return `consumer ${instance}: version ${version ?? '?'}, started ${startedAt === null ? '?' : moment(startedAt)}, ${ended}`;
}

const list = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${countText(count)}`)
    .join(', ') || 'none';

function incidentLines(
  { gaps, epochs, restored, parked, conflicts, agentsWithHoles }: TrailStatus,
  moment: Moment,
) {
  return [
    gaps.length === 0 ? 'gaps: none that the journal knows of' : `gaps: ${gaps.length}`,
    ...gaps.map(({ stream, from, to, at }) => `gap in ${stream}: ${from} to ${to}, found ${moment(at)}`),
    ...epochs.map(({ stream, at }) => `the hub was made anew: ${stream} goes on, ${moment(at)}`),
    ...restored.map(({ earlier, at }) => `a copy was put back in place of trail ${earlier}, ${moment(at)}`),
    `parked: ${list(parked)}`,
    `conflicts: ${conflicts}`,
    ...(agentsWithHoles ?? []).map(holeLine),
    ...(agentsWithHoles === null ? ['agents: a copy has no projections to ask'] : []),
    ...(agentsWithHoles?.length === 0 ? ['agents: none has a hole in its records'] : []),
  ];
}

const holesShown = 10;

function holeLine({ agentId, vmName, missing }: TrailAgent): string {
  const shown = missing
    .slice(0, holesShown)
    .map(([from, to]) => (from === to ? `${from}` : `${from} to ${to}`));
  const more = missing.length > holesShown ? ` and ${missing.length - holesShown} more` : '';
  return `agent ${agentId}${vmName === null ? '' : ` on ${vmName}`}: records ${shown.join(', ')}${more} are missing`;
}

const keepingLines = ({ pruned, holds }: TrailStatus): string[] => [
  `pruned bodies: ${list(pruned)}`,
  `legal holds: ${holds.length === 0 ? 'none' : holds.join(', ')}`,
];
