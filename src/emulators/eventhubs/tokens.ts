// Which tokens the emulator accepts, and a record of those it saw.
import type { Clock } from '../../clock.ts';
import { pathOf } from './address.ts';
import { allRights, type GrantResult, type SharedAccessKey, verifySas } from './sas.ts';

/** One `put-token`, as tests of managed identity want to see it. */
export interface PresentedToken {
  readonly type: string;
  readonly audience: string;
  readonly token: string;
  /** Epoch ms. */
  readonly at: number;
  readonly accepted: boolean;
}

export interface Tokens {
  readonly presented: readonly PresentedToken[];
  /** Decides on a token presented for `audience`. */
  present(type: string, token: string, audience: string): GrantResult;
}

export interface TokenRules {
  readonly keys: readonly SharedAccessKey[];
  readonly acceptAnyJwt: boolean;
  readonly clock: Clock;
}

/** The newest ones are kept. */
const PRESENTED_MAX = 1_000;

const HOUR_MS = 3_600_000;

/** When a JSON web token expires by its own word, which nobody verified; epoch ms. */
function expiryOf(token: string): number | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    const { exp } = claims as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}

function verifyJwt(token: string, audience: string, { acceptAnyJwt, clock }: TokenRules): GrantResult {
  if (!acceptAnyJwt) return { ok: false, reason: 'JSON web tokens are not accepted' };
  const now = clock.now();
  const expiresAt = expiryOf(token) ?? now + HOUR_MS;
  if (token === '' || expiresAt <= now) return { ok: false, reason: 'the token has expired' };
  return { ok: true, grant: { path: pathOf(audience), rights: allRights, expiresAt } };
}

/** What the token is counts, not what it is called: Python's SDK (5.11) presents signatures as `jwt`. */
const verify = (type: string, token: string, audience: string, rules: TokenRules): GrantResult => {
  if (type !== 'jwt' && type !== 'servicebus.windows.net:sastoken')
    return { ok: false, reason: `tokens of type ${type} are not known` };
  if (!token.startsWith('SharedAccessSignature ')) return verifyJwt(token, audience, rules);
  return verifySas(token, audience, { keys: rules.keys, now: rules.clock.now() });
};

/** A judge of tokens, who remembers those it saw. */
export function createTokens(rules: TokenRules): Tokens {
  const presented: PresentedToken[] = [];
  return {
    presented,
    present(type, token, audience) {
      const result = verify(type, token, audience, rules);
      presented.push({ type, audience, token, at: rules.clock.now(), accepted: result.ok });
      if (presented.length > PRESENTED_MAX) presented.shift();
      return result;
    },
  };
}
