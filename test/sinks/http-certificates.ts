// The part of the HTTP contract that is about TLS: whom a sink believes.
import { expect, it } from 'vitest';
import type { DeliveryReason, Outcome } from '../../src/core/delivery.ts';
import { issueCertificate, trust } from '../support/certificate.ts';
import { delivered, type HttpSubject, openPair, openTo, settingOf } from './http-subject.ts';

const faultOfTls = (reason: DeliveryReason): Outcome => ({
  status: 'retryable',
  reason,
  delayMsMin: 300_000,
});

export function verifiesCertificates(subject: HttpSubject): void {
  const past = Date.now() - 60_000;

  it.each([
    ['nobody vouches for', issueCertificate(), false, 'tls-untrusted'],
    ['is for another name', issueCertificate({ names: ['elsewhere.test'] }), true, 'tls-name-mismatch'],
    ['has expired', issueCertificate({ notAfterAt: past }), true, 'tls-expired'],
  ] as const)('sends nothing to a receiver whose certificate %s', async (_, tls, trusted, reason) => {
    using _trust = trust(trusted ? [tls.cert] : []);
    await using pair = await openPair(subject, {}, { tls });
    expect(await pair.send()).toEqual(faultOfTls(reason));
    expect(pair.inbox.requests).toHaveLength(0);
  });

  it('delivers to a receiver whose certificate is good', async () => {
    const tls = issueCertificate();
    using _trust = trust([tls.cert]);
    await using pair = await openPair(subject, {}, { tls });
    expect(await pair.send()).toEqual(delivered);
  });

  it('calls it a fault of TLS when the receiver speaks none', async () => {
    await using pair = await openPair(subject);
    await using secure = openTo(subject, settingOf(subject, `https://127.0.0.1:${pair.inbox.port}`));
    expect(await secure.send()).toEqual(faultOfTls('tls'));
  });
}
