// What the failures of requests mean, written down from the reference's table of answers and not from the code's.
import { describe, expect, it } from 'vitest';
import { outcomeOfError } from '../../../src/sinks/http/answer.ts';

const coded = (code: string) => Object.assign(new Error('?sig=marker'), { code });

const rows = [
  ['retry', 'connection-refused', ['ECONNREFUSED']],
  ['retry', 'host-unreachable', ['EHOSTUNREACH', 'ENETUNREACH']],
  ['retry', 'name-not-found', ['ENOTFOUND', 'EAI_AGAIN']],
  [
    'retry',
    'timeout',
    ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
  ],
  ['at once if reused', 'connection-reset', ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']],
  ['at once if reused', 'protocol', ['HPE_INVALID_CONSTANT', 'HPE_INVALID_HEADER_TOKEN']],
  ['in five minutes', 'tls-expired', ['CERT_HAS_EXPIRED']],
  [
    'in five minutes',
    'tls-untrusted',
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ],
  ['in five minutes', 'tls-name-mismatch', ['ERR_TLS_CERT_ALTNAME_INVALID']],
  ['in five minutes', 'tls', ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_NO_SHARED_CIPHER', 'EPROTO']],
  [
    'in five minutes',
    'tls-client-certificate',
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'],
  ],
  ['suspend', 'egress-blocked', ['ERR_EGRESS_BLOCKED']],
  ['suspend', 'invalid-header', ['UND_ERR_INVALID_ARG']],
  ['retry', 'proxy-unreachable', ['ERR_PROXY_UNREACHABLE']],
  ['retry', 'proxy-authentication', ['ERR_PROXY_AUTHENTICATION']],
  ['retry', 'unexpected', ['ENOBODYKNOWS']],
] as const;

const cases = rows.flatMap(([becomes, reason, codes]) =>
  codes.map((code) => [code, becomes, reason] as const),
);

const more = {
  retry: { status: 'retryable' },
  'at once if reused': { status: 'retryable' },
  'in five minutes': { status: 'retryable', delayMsMin: 300_000 },
  suspend: { status: 'unavailable' },
} as const;

describe('a request that ended without an answer', () => {
  it.each(cases)('because of %s is: %s, %s', (code, becomes, reason) => {
    const stale = becomes === 'at once if reused' ? { stale: true } : {};
    expect(outcomeOfError(coded(code), false)).toEqual({ ...more[becomes], reason });
    expect(outcomeOfError(coded(code), true)).toEqual({ ...more[becomes], reason, ...stale });
  });

  it('is told by the first part or cause that anybody foresaw', () => {
    const error = new AggregateError([coded('ENOBODYKNOWS'), coded('ECONNREFUSED'), coded('ENOTFOUND')]);
    expect(outcomeOfError(new TypeError('outer', { cause: error }), false)).toEqual({
      status: 'retryable',
      reason: 'connection-refused',
    });
  });

  it('is told by its name where its code is a number, as that of a DOMException', () => {
    const error = new DOMException('too late', 'TimeoutError');
    expect(outcomeOfError(error, false)).toEqual({ status: 'retryable', reason: 'timeout' });
  });

  it.each([undefined, null, 'a text', 7])('survives that %s is thrown', (thrown) => {
    expect(outcomeOfError(thrown, true)).toEqual({ status: 'retryable', reason: 'unexpected' });
  });
});
