// Names what went wrong on the way to another machine, from the codes of errors and never from their texts.
import type { DeliveryReason } from '../core/delivery.ts';

const reasons: Readonly<Record<string, DeliveryReason>> = {
  ECONNREFUSED: 'connection-refused',
  ECONNRESET: 'connection-reset',
  ECONNABORTED: 'connection-reset',
  EPIPE: 'connection-reset',
  EHOSTUNREACH: 'host-unreachable',
  EHOSTDOWN: 'host-unreachable',
  ENETUNREACH: 'host-unreachable',
  ENETDOWN: 'host-unreachable',
  EADDRNOTAVAIL: 'host-unreachable',
  ENOTFOUND: 'name-not-found',
  EAI_AGAIN: 'name-not-found',
  EAI_FAIL: 'name-not-found',
  EAI_NODATA: 'name-not-found',
  EAI_NONAME: 'name-not-found',
  ETIMEDOUT: 'timeout',
  // The metadata service of this VM, asked for a token.
  ERR_TOKEN_UNAVAILABLE: 'credential-unavailable',
};

// OpenSSL's verification results as Node spells them, and what Node itself calls a fault of TLS.
const tlsCode =
  /^(ERR_SSL_|ERR_TLS_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_|EPROTO$)/;

/** The reason for an error code of Node; null for a code that is not about the network. */
export function networkReason(code: string): DeliveryReason | null {
  return reasons[code] ?? (tlsCode.test(code) ? 'tls' : null);
}

// Deeper than any error that was ever seen, and a bound for one that contains itself.
const depthMax = 5;

/**
 * What an error calls itself: its `code` where that is a text, else its `name`; then the same for its parts
 * (several addresses or attempts that failed together) and its cause.
 */
export function codesOf(error: unknown, depth = 0): string[] {
  if (typeof error !== 'object' || error === null || depth > depthMax) return [];
  const { code, name, cause, errors, innerError } = error as Readonly<Record<string, unknown>>;
  const parts = [...(Array.isArray(errors) ? errors : []), innerError, cause];
  const own = [code, name].find((text) => typeof text === 'string' && text !== '');
  return [...(own === undefined ? [] : [String(own)]), ...parts.flatMap((part) => codesOf(part, depth + 1))];
}
