// The settings of the webhook sink, and which of them go together.
import * as z from 'zod';
import { type Secret, SecretUnreadable, secret } from '../../config/secret.ts';
import { sampleDeeds, sampleRecords } from '../../core/sample-records.ts';
import { headerFault, headerSettings, httpSettings } from '../http-settings.ts';
import { compileTemplate, type Template, type TemplateFault } from './payload-template.ts';
import { readSigningKey, signingKeyForm } from './signature.ts';

// Enough for two rotations at once; each one adds up to 100 bytes to a header.
const secretsMax = 8;

const mediaType = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?: ?; ?[\w-]+=[\w.+-]+)*$/;

const signingSecrets = z
  .array(secret())
  .max(secretsMax)
  .superRefine((secrets, context) => {
    secrets.forEach((given, index) => {
      // What stands in a file or a variable is read when it is used, and may be mended until then.
      if (given.place !== 'plain' || isSigningKey(given)) return;
      context.addIssue({ code: 'custom', path: [index], message: signingKeyForm });
    });
  })
  .default([])
  .describe(
    'Signs each request as Standard Webhooks do: `whsec_…` with HMAC-SHA256 (v1), `whsk_…` with ed25519 (v1a). Every secret in the list signs, so that one can be replaced while receivers still know the other.',
  );

const template = z
  .unknown()
  .exactOptional()
  .describe(
    'A body of your own in place of the CloudEvent: any YAML, whose texts may hold `{{ path | filter:argument }}`, such as `{{ data.event.eventType | lower }}`.',
  );

const templateSecrets = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z_][\w-]*$/, 'A secret of a template is named with letters, digits, "_" and "-"'),
    secret(),
  )
  .prefault({})
  .describe(
    'Secrets that the receiver wants to find in the body, by a name of your choice: `{{ secrets.NAME }}` in the template.',
  );

const basic = z
  .strictObject({
    username: z
      .string()
      .regex(/^[^:\p{Cc}]+$/u, 'Expected a name without a colon')
      .describe('The user.'),
    password: secret().describe('The password.'),
  })
  .exactOptional()
  .describe('Signs in with a user and a password (HTTP Basic).');

const idempotencyKeyHeader = z
  .string()
  .superRefine((name, context) => {
    const message = /^(?:authorization$|ce-)/i.test(name) ? 'This header has another use' : headerFault(name);
    if (message !== null) context.addIssue({ code: 'custom', message });
  })
  .exactOptional()
  .describe('Repeats the id of the record in a header of this name, such as `Idempotency-Key`.');

const handshakeSettings = {
  handshake: z
    .enum(['none', 'cloudevents'])
    .default('none')
    .describe(
      '`cloudevents`: asks the receiver for permission (OPTIONS, as CloudEvents’ Web Hooks 1.0 describe) before the first record, every day, and after a suspension; and sends no faster than it allows.',
    ),
  handshakeOrigin: z
    .string()
    .regex(/^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i, {
      error: 'Expected a DNS name such as maintenance.example.com',
    })
    .default('scheduled-events-bridge')
    .describe('The name that the handshake asks for: that of the system, the same on all of its VMs.'),
  handshakeRate: z
    .int()
    .min(1)
    .max(60_000)
    .exactOptional()
    .describe('Requests per minute that the handshake asks for; the receiver decides when not given.'),
} as const;

/** The schema. */
export const webhookSettings = z
  .strictObject({
    ...httpSettings,
    mode: z
      .enum(['structured', 'binary'])
      .default('structured')
      .describe(
        'How a record becomes a request: `structured`, the CloudEvent as the body; `binary`, its data as the body and its attributes as `ce-` headers.',
      ),
    template,
    templateSecrets,
    contentType: z
      .string()
      .regex(mediaType, 'Expected a media type such as application/json')
      .exactOptional()
      .describe(
        'Content type of the request; `application/cloudevents+json; charset=utf-8` when not given, `application/json` with a template.',
      ),
    secrets: signingSecrets,
    bearer: secret().exactOptional().describe('Signs in with this token (`Authorization: Bearer …`).'),
    basic,
    headers: headerSettings,
    idempotencyKeyHeader,
    ...handshakeSettings,
    treat409AsDelivered: z
      .boolean()
      .default(false)
      .describe('The receiver answers 409 to a record that it has already: count it as delivered.'),
  })
  .superRefine((settings, context) => {
    for (const { path, message } of contradictions(settings)) {
      context.addIssue({ code: 'custom', path: [...path], message });
    }
  });

/** The parsed settings of one webhook. */
export type WebhookSettings = z.output<typeof webhookSettings>;

type Faults = readonly TemplateFault[];

/** Settings that cannot both be meant. */
const contradictions = (settings: WebhookSettings): Faults => [
  ...faultsOfSigningIn(settings),
  ...faultsOfBinaryMode(settings),
  ...faultsOfHeaders(settings),
  ...faultsOfTemplate(settings),
  ...(settings.handshake === 'none' && settings.handshakeRate !== undefined
    ? [fault(['handshakeRate'], 'This goes with handshake: cloudevents')]
    : []),
];

const fault = (path: TemplateFault['path'], message: string): TemplateFault => ({ path, message });

function faultsOfSigningIn({ bearer, basic, headers }: WebhookSettings): Faults {
  const own = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  const ways = [bearer !== undefined, basic !== undefined, own].filter(Boolean);
  return ways.length > 1 ? [fault([], 'Give only one of bearer, basic and an Authorization header')] : [];
}

function faultsOfBinaryMode({ mode, template: tree, contentType, headers }: WebhookSettings): Faults {
  if (mode !== 'binary') return [];
  const reserved = Object.keys(headers).filter((name) => /^ce-/i.test(name));
  const body = 'In mode: binary the data of the record is the body, as JSON';
  return [
    ...(tree === undefined ? [] : [fault(['template'], body)]),
    ...(contentType === undefined ? [] : [fault(['contentType'], body)]),
    ...reserved.map((name) => fault(['headers', name], 'In mode: binary the sink itself sets this header')),
  ];
}

/** HTTP does not tell names apart by their case: a header that is given twice would be sent twice. */
function faultsOfHeaders({ headers, idempotencyKeyHeader: key }: WebhookSettings): Faults {
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const twice = Object.keys(headers).filter((name, index) => names.indexOf(name.toLowerCase()) < index);
  return [
    ...twice.map((name) => fault(['headers', name], 'This header is given twice')),
    ...(key !== undefined && names.includes(key.toLowerCase())
      ? [fault(['idempotencyKeyHeader'], 'This header stands in headers already')]
      : []),
  ];
}

function isSigningKey(given: Secret): boolean {
  try {
    return readSigningKey(given.reveal()) !== null;
  } catch (error) {
    // Nothing but white space.
    if (error instanceof SecretUnreadable) return false;
    throw error;
  }
}

/** What is wrong with a template by itself, and with the bodies it makes of a record of each transition and deed. */
function faultsOfTemplate({ template: tree, templateSecrets: named }: WebhookSettings): Faults {
  if (tree === undefined) return [];
  if (tree === null) return [fault(['template'], 'Expected the body as a tree of YAML')];
  const compiled = compileTemplate(tree);
  const faults = compiled.ok ? faultsOfFilling(compiled.template, Object.keys(named)) : compiled.faults;
  return faults.map(({ path, message }) => fault(['template', ...path], message));
}

function faultsOfFilling(compiled: Template, names: readonly string[]): Faults {
  const secrets = Object.fromEntries(names.map((name) => [name, 'sample']));
  const samples = [...sampleRecords(), ...sampleDeeds()];
  const faults = samples.flatMap((record) => compiled.faultsWith({ record, secrets }));
  // The same placeholder fails for every record: once is enough to mend it.
  return [...new Map(faults.map((each) => [each.path.join('\n'), each])).values()];
}
