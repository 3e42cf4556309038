// Opens the trail for commands that change it: beside a consumer that runs, and signed as the consumer signs.
import { setTimeout as delay } from 'node:timers/promises';
import { openTrail, openTrailSource } from '../audit/open.ts';
import { openSigner } from '../audit/signing.ts';
import { type TrailStore, TrailUnusable, type Unavailable } from '../audit/store.ts';
import { loadConfiguration } from '../config/load.ts';
import { consumerSettings } from '../consumer/settings.ts';
import { type CommandContext, textOption } from './command.ts';
import { chosenFile } from './program.ts';
import { chosenTrail } from './trail.ts';

/**
 * Opens the trail that the command line chooses, with the keys of the consumer's file when it names one.
 * @param options.makes whether it is made when there is none; else that is said
 * @throws ConfigurationError, UsageError, SigningUnusable, TrailUnusable
 */
export async function openForCare(
  context: CommandContext,
  options: { readonly makes: boolean },
): Promise<TrailStore> {
  const settings = chosenTrail(context);
  const isFileGiven =
    textOption(context, 'trail') === undefined || textOption(context, 'config') !== undefined;
  const signing = isFileGiven
    ? loadConfiguration(chosenFile(context, 'consumer'), consumerSettings).signing
    : undefined;
  const sign = signing === undefined ? null : openSigner([signing.keyFile, ...signing.alsoKeyFiles]).sign;
  // Opening to write would make one, empty and under a mistyped name, or take an old one from the consumer that has it.
  if (!options.makes) await (await openTrailSource(settings))[Symbol.asyncDispose]();
  const trail = await openTrail(settings, { sign });
  try {
    if (sign === null) await requireUnsigned(trail, context.signal);
    return trail;
  } catch (error) {
    await trail[Symbol.asyncDispose]();
    throw error;
  }
}

/** What is written without the key would take the signature from what was signed. */
async function requireUnsigned(trail: TrailStore, signal: AbortSignal): Promise<void> {
  const { heads } = await sureOf(() => trail.heads(), signal);
  if (heads.every(({ note }) => note === null)) return;
  throw new TrailUnusable(
    'the trail is signed: give the consumer’s file with -c, so that what this command writes is signed too',
  );
}

const attemptsMax = 20;
const retryMs = 250;

/**
 * Tries again while another program holds the trail: a consumer that runs beside this command does so for moments.
 * @throws TrailUnusable when it stays so, or the trail cannot be used at all
 */
export async function sureOf<Result extends { readonly status: string }>(
  attempt: () => Promise<Result | Unavailable>,
  signal: AbortSignal,
): Promise<Exclude<Result, Unavailable>> {
  for (let tried = 1; ; tried++) {
    const result = await attempt();
    if (!isUnavailable(result)) return result as Exclude<Result, Unavailable>;
    const passes = result.reason === 'locked' || result.reason === 'unreachable';
    if (!passes || tried === attemptsMax) throw new TrailUnusable(sentences[result.reason]);
    await delay(retryMs, undefined, { signal });
  }
}

const isUnavailable = (result: { readonly status: string }): result is Unavailable =>
  result.status === 'unavailable';

const sentences: Readonly<Record<Unavailable['reason'], string>> = {
  'disk-full': 'the trail takes nothing: the disk is full',
  locked: 'the trail takes nothing: another program holds it locked; try again in a moment',
  damaged: 'the trail is damaged: keep it, and restore it from a copy',
  'read-only': 'the trail may not be written to by this user',
  unreachable: 'the trail’s server cannot be reached; what was done until then stands in the journal',
  unauthorized:
    'the trail’s server refuses this user: who writes needs the role seb_writer, and who prunes seb_pruner as well',
  unexpected: 'the trail takes nothing, for a reason that was not foreseen',
};
