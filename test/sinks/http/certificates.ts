// The part of the HTTP contract that is about TLS: whom a sink believes.
import { createPrivateKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import tls from 'node:tls';
import { expect, it } from 'vitest';
import type { DeliveryReason, Outcome } from '../../../src/core/delivery.ts';
import { type Certificate, issueCertificate, trust } from '../../support/certificate.ts';
import { openProxy } from '../../support/proxy.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import {
  acceptance,
  delivered,
  type HttpSubject,
  marker,
  openPair,
  openTo,
  retryable,
  settingOf,
  unavailable,
} from '../http-subject.ts';

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

  speaksNoOldTls(subject);
  verifiesWhateverNodeWasTold(subject);
  believesItsOwnAuthority(subject);
  showsItsCertificate(subject);
  needsItsFiles(subject);
}

function speaksNoOldTls(subject: HttpSubject): void {
  it('speaks no TLS older than 1.2, even where Node was told to', async () => {
    const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls;
    tls.DEFAULT_MIN_VERSION = 'TLSv1';
    tls.DEFAULT_CIPHERS = 'DEFAULT:@SECLEVEL=0';
    const certificate = issueCertificate();
    using _trust = trust([certificate.cert]);
    await using pair = await openPair(subject, {}, { tls: { ...certificate, maxVersion: 'TLSv1.1' } });
    const outcome = await pair.send();
    Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS });
    expect(outcome).toEqual(faultOfTls('tls'));
  });
}

function verifiesWhateverNodeWasTold(subject: HttpSubject): void {
  const insecure = 'NODE_TLS_REJECT_UNAUTHORIZED';

  it('sends nothing to a receiver whom nobody vouches for, even where Node was told not to look', async () => {
    await using pair = await openPair(subject, {}, { tls: issueCertificate() });
    await using proxy = await openProxy({ tls: issueCertificate() });
    await using proxied = openTo(subject, { ...settingOf(subject, pair.inbox.url), proxy: proxy.url });
    process.env[insecure] = '0';
    const outcomes = [await pair.send(), await proxied.send()];
    delete process.env[insecure];
    expect(outcomes).toEqual([faultOfTls('tls-untrusted'), retryable('proxy-unreachable')]);
    expect(pair.inbox.requests).toHaveLength(0);
  });
}

/** OpenSSL finds authorities by their names: two that may stand side by side need one each. */
const issueTo = (name: string) => issueCertificate({ names: [name, '127.0.0.1'] });

/** Files with what is given, in a directory that goes away. */
function filesOf(texts: Readonly<Record<string, string>>) {
  const directory = temporaryDirectory();
  const pathOf = (name: string) => join(directory.path, name);
  const write = (more: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(more)) writeFileSync(pathOf(name), text);
  };
  write(texts);
  return { pathOf, write, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

function believesItsOwnAuthority(subject: HttpSubject): void {
  it('believes the authority of its settings, and then no other', async () => {
    const [own, other] = [issueTo('own.test'), issueTo('other.test')];
    using files = filesOf({ ca: `A note above.\n${own.cert}` });
    using _trust = trust([other.cert]);
    const more = { tls: { caFile: files.pathOf('ca') } };
    await using good = await openPair(subject, more, { tls: own });
    await using wrong = await openPair(subject, more, { tls: other });
    expect(await good.send()).toEqual(delivered);
    expect(await wrong.send()).toEqual(faultOfTls('tls-untrusted'));
    // A new file counts at once.
    files.write({ ca: own.cert + other.cert });
    expect(await wrong.send()).toEqual(delivered);
  });

  it('expects the name of its settings in the certificate', async () => {
    const elsewhere = issueCertificate({ names: ['elsewhere.test'] });
    using _trust = trust([elsewhere.cert]);
    const serverNamed = (serverName: string) =>
      openPair(subject, { tls: { serverName } }, { tls: elsewhere });
    await using good = await serverNamed('elsewhere.test');
    await using wrong = await serverNamed('another.test');
    expect(await good.send()).toEqual(delivered);
    expect(await wrong.send()).toEqual(faultOfTls('tls-name-mismatch'));
  });
}

const withPassphrase = ({ key }: Certificate): string =>
  createPrivateKey(key)
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: marker })
    .toString();

function showsItsCertificate(subject: HttpSubject): void {
  it('shows its certificate to a receiver that wants one, and renews it without a restart', async () => {
    const [server, client, renewed] = [issueCertificate(), issueTo('agent'), issueTo('agent-renewed')];
    using _trust = trust([server.cert]);
    using files = filesOf({ cert: client.cert, key: client.key });
    const more = { tls: { certFile: files.pathOf('cert'), keyFile: files.pathOf('key') } };
    const receiver = { ...server, clientAuthorities: [client.cert, renewed.cert] };
    await using pair = await openPair(subject, more, { tls: receiver });
    expect([await pair.send(), await pair.send()]).toEqual([delivered, delivered]);
    expect(pair.inbox.connections).toBe(1);
    files.write({ cert: renewed.cert, key: renewed.key });
    expect([await pair.send(), pair.inbox.connections]).toEqual([delivered, 2]);
  });

  it('opens a private key with the passphrase of its settings', async () => {
    const [server, client] = [issueCertificate(), issueCertificate()];
    using _trust = trust([server.cert]);
    using files = filesOf({ cert: client.cert, key: withPassphrase(client) });
    const more = { certFile: files.pathOf('cert'), keyFile: files.pathOf('key'), passphrase: marker };
    const receiver = { ...server, clientAuthorities: [client.cert] };
    await using pair = await openPair(subject, { tls: more }, { tls: receiver });
    await using without = openTo(subject, settingOf(subject, pair.inbox.url));
    expect(await pair.send()).toEqual(delivered);
    expect(await without.send()).toEqual(faultOfTls('tls-client-certificate'));
    expect(pair.inbox.requests).toHaveLength(1);
  });
}

function needsItsFiles(subject: HttpSubject): void {
  const client = issueCertificate();
  const good = { cert: client.cert, key: client.key };
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, DeliveryReason])[] = [
    ['a file is not there', { cert: client.cert }, 'tls-file-unreadable'],
    ['an authority is none', { ...good, ca: marker }, 'tls-file-invalid'],
    ['an authority is broken', { ...good, ca: client.cert.replace(/M./, 'AA') }, 'tls-file-invalid'],
    ['the key is that of another', { ...good, key: issueCertificate().key }, 'tls-file-invalid'],
    ['the key wants a passphrase', { ...good, key: withPassphrase(client) }, 'tls-file-invalid'],
  ];

  it.each(cases)('suspends the sink while %s', async (_, texts, reason) => {
    using files = filesOf(texts);
    const paths = { certFile: files.pathOf('cert'), keyFile: files.pathOf('key') };
    const more = 'ca' in texts ? { ...paths, caFile: files.pathOf('ca') } : paths;
    await using pair = await openPair(subject, { tls: more }, { answer: acceptance(subject) });
    expect(await pair.send()).toEqual(unavailable(reason));
    files.write({ ...good, ca: client.cert });
    expect(await pair.send()).toEqual(delivered);
  });

  it('suspends the sink while the passphrase cannot be read', async () => {
    using files = filesOf(good);
    const passphrase = { file: files.pathOf('none') };
    const more = { certFile: files.pathOf('cert'), keyFile: files.pathOf('key'), passphrase };
    await using pair = await openPair(subject, { tls: more });
    expect(await pair.send()).toEqual(unavailable('secret-unreadable'));
  });
}
