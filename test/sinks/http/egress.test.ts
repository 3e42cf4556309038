// Where the bridge must not send, in every spelling that leads there. Only decides: nothing is sent anywhere.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayConnect } from '../../../src/sinks/http/egress.ts';

const pair = (high: number, low: number): string => (high * 256 + low).toString(16);

/** An IPv4 address behind a NAT64 prefix of 48, 56 and 64 bits, with something else in every other place. */
function localNat64Of(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return [
    `64:ff9b:1:${pair(a, b)}:${pair(0, c)}:${pair(d, 1)}:101:101`,
    `64:ff9b:1:${pair(1, a)}:${pair(0, b)}:${pair(c, d)}:101:101`,
    `64:ff9b:1:101:${pair(0, a)}:${pair(b, c)}:${pair(d, 1)}:101`,
  ];
}

/** The same IPv4 address as networks may write it in IPv6. */
function spellingsOf(address: string): string[] {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const hex = `${pair(a, b)}:${pair(c, d)}`;
  const turned = `${pair(255 - a, 255 - b)}:${pair(255 - c, 255 - d)}`;
  return [
    address,
    `::ffff:${address}`,
    `::ffff:${hex}`,
    `0:0:0:0:0:ffff:${hex}`,
    `::FFFF:${hex.toUpperCase()}`,
    `::ffff:0:${hex}`,
    `::${hex}`,
    `64:ff9b::${address}`,
    `64:ff9b::${hex}`,
    `64:ff9b:1::${hex}`,
    `64:ff9b:1:a:b:c:${hex}`,
    `2002:${hex}::`,
    `2002:${hex}::1`,
    `2002:${hex}:1:2:3:4:5`,
    `2001:0:${hex}:8000:0:f8f8:f8f8`,
    `2001:0:102:304:8000:0:${turned}`,
  ];
}

const forbidden = [
  '169.254.169.254',
  '169.254.0.1',
  '169.254.255.255',
  '168.63.129.16',
  '0.0.0.0',
  '0.1.2.3',
  '0.0.0.2',
  '224.0.0.1',
  '239.255.255.250',
  '255.255.255.255',
];

const allowed = [
  '10.0.0.4',
  '172.16.3.4',
  '192.168.1.1',
  '100.64.0.1',
  '168.63.129.15',
  '168.63.129.17',
  '169.253.255.255',
  '169.255.0.1',
  '1.0.0.1',
  '223.255.255.255',
  '20.50.2.1',
];

describe('the egress guard', () => {
  it.each(forbidden.flatMap(spellingsOf))('never connects to %s', (address) => {
    expect([mayConnect(address, false), mayConnect(address, true)]).toEqual([false, false]);
  });

  it.each(['169.254.169.254', '168.63.129.16', '224.0.0.1'].flatMap(localNat64Of))(
    'never connects to %s',
    (address) => {
      expect(mayConnect(address, true)).toBe(false);
    },
  );

  it.each(['::', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'ff02::1', 'FE80::AbCd'])(
    'never connects to %s',
    (address) => {
      expect([mayConnect(address, false), mayConnect(address, true)]).toEqual([false, false]);
    },
  );

  it.each([...spellingsOf('127.0.0.1'), ...spellingsOf('127.255.255.254'), '::1', '0:0:0:0:0:0:0:1'])(
    'connects to this machine as %s only where that is allowed',
    (address) => {
      expect([mayConnect(address, false), mayConnect(address, true)]).toEqual([false, true]);
    },
  );

  it.each([
    ...allowed.flatMap(spellingsOf),
    '2606:4700::1111',
    'fd00::1',
    '64:ff9c::a9fe:a9fe',
    '2003:a9fe:a9fe::',
  ])('connects to %s', (address) => {
    expect(mayConnect(address, false)).toBe(true);
  });

  it.each(['', 'localhost', '169.254.169.254.', '0xa9fea9fe', '::1::', '127.1'])(
    'connects to nothing that is no address, such as "%s"',
    (address) => {
      expect(mayConnect(address, true)).toBe(false);
    },
  );

  it('decides the same for every spelling of an IPv4 address', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.boolean(), (address, allowLoopback) => {
        // What would be its old IPv6 form is ::1, which is this machine.
        fc.pre(address !== '0.0.0.1');
        const answers = spellingsOf(address).map((spelling) => mayConnect(spelling, allowLoopback));
        expect(new Set(answers).size).toBe(1);
      }),
    );
  });

  it('reads every IPv6 address, however it is shortened', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const whole = new URL(`http://[${address}]/`).hostname.slice(1, -1);
        expect(mayConnect(address, false)).toBe(mayConnect(whole, false));
      }),
    );
  });
});
