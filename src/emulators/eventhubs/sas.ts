// Shared access signatures: whether a token was signed with one of the keys, for what, and until when.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { pathOf } from './address.ts';

export type Right = 'send' | 'listen';

export interface SharedAccessKey {
  readonly name: string;
  readonly key: string;
  /** What the key is good for; everything by default. */
  readonly rights?: readonly Right[];
}

/** What a token lets its bearer do. */
export interface Grant {
  /** Path that the token is for, and for everything below it. */
  readonly path: string;
  readonly rights: readonly Right[];
  /** Epoch ms. */
  readonly expiresAt: number;
}

export type GrantResult =
  | { readonly ok: true; readonly grant: Grant }
  | { readonly ok: false; readonly reason: string };

const refused = (reason: string): GrantResult => ({ ok: false, reason });

export const allRights: readonly Right[] = ['send', 'listen'];

/** Whether `path` is `parent` or lies below it. */
export const covers = (parent: string, path: string): boolean =>
  parent === '' || `${path.toLowerCase()}/`.startsWith(`${parent.toLowerCase()}/`);

interface SasToken {
  /** What the signature is over: the resource, still encoded, and the expiry. */
  readonly signed: string;
  readonly resource: string;
  readonly signature: string;
  /** Epoch seconds. */
  readonly expiry: string;
  readonly keyName: string;
}

function unescaped(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function parseToken(token: string): SasToken | undefined {
  const [, fields] = /^SharedAccessSignature (.+)$/.exec(token) ?? [];
  const values = new Map(
    fields?.split('&').map((field) => {
      const [name = '', ...value] = field.split('=');
      return [name, value.join('=')] as const;
    }),
  );
  const [resource, signature] = [unescaped(values.get('sr')), unescaped(values.get('sig'))];
  const [expiry, keyName] = [values.get('se'), unescaped(values.get('skn'))];
  if (resource === undefined || signature === undefined || expiry === undefined || keyName === undefined)
    return undefined;
  return { signed: `${values.get('sr')}\n${expiry}`, resource, signature, expiry, keyName };
}

function isSigned({ signed, signature }: SasToken, key: string): boolean {
  const expected = createHmac('sha256', key).update(signed).digest();
  const given = Buffer.from(signature, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const hostOf = (audience: string): string | undefined =>
  /^[a-z]+:\/\/([^/]*)/i.exec(audience)?.[1]?.toLowerCase();

export interface SasRules {
  readonly keys: readonly SharedAccessKey[];
  /** Epoch ms. */
  readonly now: number;
}

/**
 * Verifies a shared access signature.
 * @param token as it came in `put-token`
 * @param audience what the token is presented for: the `name` of `put-token`
 */
export function verifySas(token: string, audience: string, { keys, now }: SasRules): GrantResult {
  const parsed = parseToken(token);
  if (parsed === undefined) return refused('the token is no shared access signature');
  const key = keys.find(({ name }) => name === parsed.keyName);
  if (key === undefined) return refused('there is no key of that name');
  if (!isSigned(parsed, key.key)) return refused('the signature does not match');
  const expiresAt = Number(parsed.expiry) * 1000;
  if (!(expiresAt > now)) return refused('the token has expired');
  const path = pathOf(audience);
  if (hostOf(parsed.resource) !== hostOf(audience) || !covers(pathOf(parsed.resource), path))
    return refused('the token is for another audience');
  return { ok: true, grant: { path, rights: key.rights ?? allRights, expiresAt } };
}
