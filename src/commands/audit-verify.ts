// `seb audit verify`: says what of the trail is proven, what is not, and whether somebody changed it.
import { TrailUnusable } from '../audit/store.ts';
import { type AnchorCopy, type AnchorPlace, readAnchor } from '../audit/verify/anchors.ts';
import { maxAgeMsUsual } from '../audit/verify/conclude-trail.ts';
import { reportOf, type VerifyReport } from '../audit/verify/report.ts';
import { verifyTrail } from '../audit/verify/verify.ts';
import { loadConfiguration } from '../config/load.ts';
import { Secret } from '../config/secret.ts';
import { type ConsumerSettings, consumerSettings } from '../consumer/settings.ts';
import { always, type Finding, type FindingCode, findingKinds } from '../core/finding.ts';
import { countText } from '../core/verdict.ts';
import { type CommandContext, defineCommand, textOption, UsageError } from './command.ts';
import { jsonText } from './json-text.ts';
import { chosenZone, readMoment, zoneOptions } from './moment.ts';
import { chosenFile } from './program.ts';
import { letGoSoon } from './small-engine.ts';
import { openChosenSource, refuseAddress, trailOrCopyOptions } from './trail.ts';
import { keyOptions, trustedKeys } from './verifier-keys.ts';

export const auditVerify = defineCommand({
  name: 'audit verify',
  summary: 'Says what of the trail is proven, what is not, and whether somebody changed it.',
  options: {
    ...trailOrCopyOptions,
    ...keyOptions,
    anchor: {
      type: 'string',
      multiple: true,
      value: 'FILE|URL',
      description:
        'Heads that were kept elsewhere: a file, or the https:// address of a container; may be repeated.',
    },
    since: {
      type: 'string',
      value: 'TIME',
      description: 'What is incomplete before this time is only noted.',
    },
    until: {
      type: 'string',
      value: 'TIME',
      description: 'What is incomplete from this time on is only noted.',
    },
    'max-age': {
      type: 'string',
      value: 'AGE',
      description:
        'How old the newest seal may be, such as 2h, the default of a store; of a copy only when given.',
    },
    accept: {
      type: 'string',
      multiple: true,
      value: 'CODE',
      description:
        'Incompleteness that is known and taken as it is, such as no-anchor or gap; tampering never is.',
    },
    'skip-projections': { type: 'boolean', description: 'Do not compare the projections with the entries.' },
    output: { type: 'string', short: 'o', value: 'FORMAT', description: 'json; sentences unless given.' },
    ...zoneOptions,
  },
  examples: [
    { line: 'audit verify -c consumer.yaml', shows: 'everything, with the keys and the anchors of the file' },
    {
      line: 'audit verify --trail ./export --key-file auditors.keys --anchor ./seals.notes',
      shows: 'an exported folder, on a machine that has nothing but this program',
    },
    { line: 'audit verify --since 30d --accept no-anchor -o json', shows: 'the last month, for a program' },
  ],
  notes: [
    'Exit codes: 0 verified; 10 tampered: somebody changed it, or it contradicts itself; 11 incomplete: something is missing or cannot be proven; 1 the trail could not be read, which proves nothing.',
    'The whole trail is recomputed whatever --since and --until say: they choose which gaps and other incompleteness count, and which entries the last sentence counts. Tampering counts whenever it was.',
    'A gap counts although the journal explains it: events are missing. --since leaves it behind, --accept gap takes it as it is.',
    'What is written while this runs is not seen: it reads the trail as it stood when it began.',
  ],
  async run(context) {
    const options = optionsOf(context);
    letGoSoon();
    const settings = settingsOf(context);
    const keys = trustedKeys(context, settings?.signing ?? null);
    try {
      // Before the trail is opened: a head that is anchored later may be of a seal that was not seen here.
      const anchors = await anchorsOf(context, settings);
      await using source = await openChosenSource(context);
      const isStore = source.check !== null;
      const maxAgeMs = options.maxAgeMs ?? (isStore ? maxAgeMsUsual : null);
      const report = reportOf(
        await verifyTrail(source, { ...options, keys, anchors, maxAgeMs, signal: context.signal }),
      );
      await writeOut(context, asJson(context) ? `${jsonText(report, 2)}\n` : textOf(report));
      return report.exitCode;
    } catch (error) {
      if (context.signal.aborted) return 130;
      if (!(error instanceof TrailUnusable)) throw error;
      context.stderr.write(`seb: ${error.message}; nothing is proven\n`);
      return 1;
    }
  },
});

/** @throws UsageError */
function optionsOf(context: CommandContext) {
  asJson(context);
  const [zone, now] = [chosenZone(context), Date.now()];
  const moment = (name: string): number | undefined => {
    const text = textOption(context, name);
    return text === undefined ? undefined : readMoment(text, name, zone, now);
  };
  const [since = always.since, until = always.until] = [moment('since'), moment('until')];
  const range = since === always.since && until === always.until ? {} : { range: { since, until } };
  const skips = context.options['skip-projections'] === true;
  return {
    now,
    ...range,
    accept: acceptedCodes(context),
    projections: !skips,
    maxAgeMs: maxAgeOf(context, now),
  };
}

/** @throws UsageError */
function maxAgeOf(context: CommandContext, now: number): number | null {
  const text = textOption(context, 'max-age');
  if (text === undefined) return null;
  if (/^\d+[smhdw]$/.test(text)) return now - readMoment(text, 'max-age', 'UTC', now);
  throw new UsageError(`--max-age takes an age such as 2h or 7d, not "${text}"`);
}

/** @throws UsageError */
function acceptedCodes(context: CommandContext): ReadonlySet<FindingCode> {
  const named = [context.options['accept'] ?? []].flat().flatMap((text) => String(text).split(','));
  return new Set(named.map(codeNamed));
}

function codeNamed(name: string): FindingCode {
  const known = (Object.keys(findingKinds) as FindingCode[]).filter(
    (code) => findingKinds[code].severity === 'incomplete',
  );
  const code = known.find((each) => each === name);
  if (code !== undefined) return code;
  throw new UsageError(`--accept takes one of ${known.join(', ')}, not "${name}"`);
}

/** @throws UsageError */
function asJson(context: CommandContext): boolean {
  const format = textOption(context, 'output');
  if (format === undefined || format === 'json') return format === 'json';
  throw new UsageError(`--output takes json, not "${format}"`);
}

/** The consumer's file, unless the command line names a trail and no file. */
function settingsOf(context: CommandContext): ConsumerSettings | null {
  const isNamed = textOption(context, 'trail') !== undefined && textOption(context, 'config') === undefined;
  return isNamed ? null : loadConfiguration(chosenFile(context, 'consumer'), consumerSettings);
}

async function anchorsOf(context: CommandContext, settings: ConsumerSettings | null): Promise<AnchorCopy[]> {
  const given = [context.options['anchor'] ?? []].flat().map((text) => anchorNamed(String(text)));
  const places = [...given, ...(settings?.anchors ?? []).flatMap(configuredAnchor)];
  return await Promise.all(places.map((place) => readAnchor(place, context.signal)));
}

function anchorNamed(name: string): AnchorPlace {
  if (/^https?:\/\//i.test(name)) return { type: 'blob', address: new Secret('--anchor', () => name) };
  refuseAddress('anchor', name, 'a file or https://…');
  return { type: 'file', path: name };
}

/** What a webhook took can be asked back from nobody: save it as a file, and give that. */
function configuredAnchor({ type, path, ...container }: ConsumerSettings['anchors'][number]): AnchorPlace[] {
  if (type === 'file') return path === undefined ? [] : [{ type, path }];
  return type === 'blob' ? [{ type, ...container }] : [];
}

const words = { proved: 'proved', 'not-proven': 'not proven', failed: 'FAILED' } as const;

/** Names of VMs and agents come from outside: what they hold must not steer the terminal. */
const plainly = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ');

function textOf({ checks, findings, sentence }: VerifyReport): string {
  const lines = [
    ...checks.map(({ name, status, text }) => `${words[status]}: ${name}: ${text}`),
    ...findings.map(findingLine),
    sentence,
  ];
  return lines.map((line) => `${plainly(line)}\n`).join('');
}

function findingLine({ severity, accepted, code, text, advice, count }: Finding): string {
  const more = count === 1 ? '' : ` (and ${countText(count - 1)} more like it)`;
  const word = accepted ? 'accepted' : severity;
  return `${word} [${code}]: ${text}${more}${advice === '' ? '' : `; ${advice}`}`;
}

const writeOut = ({ stdout }: CommandContext, text: string): Promise<void> =>
  new Promise((resolve) => stdout.write(text, () => resolve()));
