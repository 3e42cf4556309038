// The egress guard at work, in a sealed network where every forbidden address is there and would answer.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { runInSealedNetwork } from '../../support/sealed-network.ts';

const harmless = '10.1.2.3';
const forbidden = [
  '169.254.169.254',
  '168.63.129.16',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::a9fe:a9fe',
  '64:ff9b:1:a9fe:a9:fe01:1:1',
  '64:ff9b:1:a9:fe:a9fe:1:1',
  '64:ff9b:1:a:a9:fea9:fe01:1',
  '2002:a9fe:a9fe::1',
  '2001:0:a9fe:a9fe::1',
];

/** What the machine's own name service says of each name. */
const hosts = [
  [harmless, 'harmless.test'],
  ['169.254.169.254', 'imds.test'],
  ['168.63.129.16', 'wireserver.test'],
  ['::ffff:169.254.169.254', 'mapped.test'],
  ['64:ff9b::a9fe:a9fe', 'nat64.test'],
  ['64:ff9b:1::a9fe:a9fe', 'nat64-local.test'],
  ['64:ff9b:1:a9fe:a9:fe01:1:1', 'nat64-local-48.test'],
  ['64:ff9b:1:a9:fe:a9fe:1:1', 'nat64-local-56.test'],
  ['64:ff9b:1:a:a9:fea9:fe01:1', 'nat64-local-64.test'],
  ['2002:a9fe:a9fe::1', '6to4.test'],
  ['2001:0:a9fe:a9fe::1', 'teredo.test'],
  ['fe80::1', 'link-local-6.test'],
  ['0.0.0.0', 'this-host.test'],
  ['::', 'unspecified.test'],
  ['224.0.0.1', 'multicast.test'],
  ['ff02::1', 'multicast-6.test'],
  ['255.255.255.255', 'broadcast.test'],
  ['169.254.169.254', 'both.test'],
  [harmless, 'both.test'],
] as const;

const resolved = hosts.map(([, name]) => name).filter((name) => !/^(harmless|both)/.test(name));

/** Addresses as nobody would write them, and as URLs allow. */
const written = [
  '169.254.169.254',
  '169.254.169.254.',
  '2852039166',
  '0xa9fea9fe',
  '0XA9.0xFE.0xA9.0xFE',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.16689662',
  '%31%36%39.254.169.254',
  '１６９．２５４．１６９．２５４',
  '[::ffff:169.254.169.254]',
  '[::FFFF:A9FE:A9FE]',
  '[0:0:0:0:0:ffff:a9fe:a9fe]',
  '[::169.254.169.254]',
  '[64:ff9b::169.254.169.254]',
  '[64:FF9B:0:0:0:0:A9FE:A9FE]',
  '[64:ff9b:1::a9fe:a9fe]',
  '[2002:a9fe:a9fe::1]',
  '[2001::a9fe:a9fe:0:0:0:1]',
  '168.63.129.16',
  '0xa83f8110',
  '[::ffff:168.63.129.16]',
  '0',
  '0.0.0.0',
  '[::]',
  '[fe80::1]',
  '[FE80::0:1]',
  '[ff02::1]',
  '224.0.0.1',
  '255.255.255.255',
];

interface Sent {
  readonly outcome: object;
  readonly reached: readonly string[];
}

interface Report {
  readonly direct: Readonly<Record<string, Sent>>;
  readonly rebound: { readonly first: Sent; readonly asked: number; readonly second: Sent };
  readonly redirected: Sent;
}

const blocked: Sent = { outcome: { status: 'unavailable', reason: 'egress-blocked' }, reached: [] };
const arrived: Sent = { outcome: { status: 'delivered' }, reached: [`::ffff:${harmless}`] };

describe('a sink in a network where the forbidden addresses answer', () => {
  let report: Report;

  beforeAll(async () => {
    const others = ['harmless.test', 'both.test', '[fe80::1%25lo]', 'failing.test', '10.9.9.9'];
    const program = fileURLToPath(import.meta.resolve('./egress-program.ts'));
    report = (await runInSealedNetwork(program, [harmless, ...resolved, ...written, ...others], {
      addresses: [harmless, ...forbidden],
      hosts,
    })) as Report;
  }, 60_000);

  it('reaches what it may reach', () => {
    expect(report.direct['harmless.test']).toEqual(arrived);
  });

  it.each(resolved)('connects to nothing when the name service leads it astray with %s', (name) => {
    expect(report.direct[name]).toEqual(blocked);
  });

  it.each(written)('connects to nothing when the host is written as %s', (host) => {
    expect(report.direct[host]).toEqual(blocked);
  });

  it('takes no zone of an address for a host', () => {
    const invalid = { status: 'unavailable', reason: 'invalid-url' };
    expect(report.direct['[fe80::1%25lo]']).toEqual({ outcome: invalid, reached: [] });
  });

  it('uses only the harmless one of several addresses', () => {
    expect(report.direct['both.test']).toEqual(arrived);
  });

  it('connects to the very address that it looked at, when the name service changes its mind', () => {
    expect(report.rebound).toEqual({ first: arrived, asked: 1, second: blocked });
  });

  it('does not follow a redirect to instance metadata', () => {
    expect(report.redirected).toEqual({
      outcome: { status: 'unavailable', reason: 'http-302', passing: true },
      reached: arrived.reached,
    });
  });

  it('tries again later when the network or its name service fails', () => {
    const failed = (reason: string) => ({ outcome: { status: 'retryable', reason }, reached: [] });
    expect(report.direct['failing.test']).toEqual(failed('name-not-found'));
    expect(report.direct['10.9.9.9']).toEqual(failed('host-unreachable'));
  });
});
