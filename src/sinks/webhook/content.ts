// What a webhook sends for a record: its body in the form that was chosen, and the headers around it.
import type { Secret } from '../../config/secret.ts';
import type { BridgeRecord } from '../../core/record.ts';
import type { OutgoingRecord } from '../sink.ts';
import { binaryOf } from './cloudevents-binary.ts';
import { compileTemplate } from './payload-template.ts';
import type { WebhookSettings } from './settings.ts';
import { readSigningKey, type SigningKey, signaturesOf } from './signature.ts';

type Headers = Readonly<Record<string, string>>;

/** The body of a request, and the headers that describe it. */
export interface Content {
  readonly headers: Headers;
  readonly body: Buffer;
}

/**
 * Chooses how records become bodies.
 * @returns gives the content for a record; null when the template cannot be filled in with it; may throw
 * SecretUnreadable
 */
export function openContents(settings: WebhookSettings): (outgoing: OutgoingRecord) => Content | null {
  const { mode, template, contentType } = settings;
  if (template !== undefined) return contentsOfTemplate(settings);
  if (mode === 'binary') return ({ record }) => binaryOf(record);
  const type = contentType ?? 'application/cloudevents+json; charset=utf-8';
  return ({ bytes }) => ({ headers: { 'content-type': type }, body: bytes });
}

function contentsOfTemplate({ template, templateSecrets, contentType }: WebhookSettings) {
  const compiled = compileTemplate(template);
  if (!compiled.ok) throw new Error('a template that cannot be read does not get past the settings');
  return ({ record }: OutgoingRecord): Content | null => {
    const body = compiled.template.fill({ record, secrets: revealed(templateSecrets) });
    return body === null ? null : { headers: { 'content-type': contentType ?? 'application/json' }, body };
  };
}

/**
 * The headers of every request, the handshake's too.
 * @throws SecretUnreadable
 */
export function commonHeaders(settings: WebhookSettings, version: string): Headers {
  return {
    ...revealed(settings.headers),
    ...authorization(settings),
    'user-agent': `scheduled-events-bridge/${version}`,
  };
}

const revealed = (secrets: Readonly<Record<string, Secret>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, value.reveal()]));

function authorization({ bearer, basic }: WebhookSettings): Headers {
  if (bearer !== undefined) return { authorization: `Bearer ${bearer.reveal()}` };
  if (basic === undefined) return {};
  const pair = Buffer.from(`${basic.username}:${basic.password.reveal()}`, 'utf8');
  return { authorization: `Basic ${pair.toString('base64')}` };
}

/**
 * The keys to sign with, as the secrets are now.
 * @returns null when one of them cannot be a key
 * @throws SecretUnreadable
 */
export function signingKeys({ secrets }: WebhookSettings): readonly SigningKey[] | null {
  const keys = secrets.map((given) => readSigningKey(given.reveal())).filter((key) => key !== null);
  return keys.length < secrets.length ? null : keys;
}

/**
 * The headers that Standard Webhooks define, for one attempt.
 * @param at epoch ms at which the attempt is made
 */
export function webhookHeaders(
  { id }: BridgeRecord,
  body: Buffer,
  keys: readonly SigningKey[],
  at: number,
): Headers {
  const timestamp = Math.floor(at / 1000);
  const signature =
    keys.length === 0 ? {} : { 'webhook-signature': signaturesOf(keys, { id, timestamp, body }) };
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), ...signature };
}
