// Whether option 245 is found in the leases of every client, and in nothing else.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fabricInLease } from '../../src/core/dhcp-lease.ts';
import { fabricBytes, writtenMessage } from '../support/dhcp.ts';

const inText = (text: string) => fabricInLease(Buffer.from(text, 'latin1'));

const dhclient = (value: string) =>
  `lease {\n  interface "eth0";\n  fixed-address 10.1.0.4;\n  option unknown-245 ${value};\n  expire never;\n}\n`;

it.each([
  ['systemd-networkd', '# This is private data. Do not parse.\nADDRESS=10.1.0.4\nOPTION_245=a83f8110\n'],
  ['dhclient', dhclient('a8:3f:81:10')],
  ['dhclient, where another name was given', dhclient('a8:3f:81:10').replace('unknown', 'private')],
  ['NetworkManager', '[dhcp4]\nnext-server=168.63.129.16\nprivate_245=a8:3f:81:10\n'],
  ['cloud-init', JSON.stringify({ 'ip-address': '10.1.0.4', 'unknown-245': 'a8:3f:81:10' }, null, 1)],
])('a lease of %s names it', (_, text) => {
  expect(inText(text)).toBe('168.63.129.16');
});

it('a lease of dhcpcd, which is the message of the server, names it', () => {
  expect(
    fabricInLease(
      writtenMessage({
        options: [
          [53, [5]],
          [245, fabricBytes],
        ],
      }),
    ),
  ).toBe('168.63.129.16');
});

it.each([
  ['"bL6 "', '98.76.54.32'],
  ['"b\\"6\\\\"', '98.34.54.92'],
  ['8:8:4:1', '8.8.4.1'],
])('dhclient writes %s, and means %s', (written, meant) => {
  expect(inText(dhclient(written))).toBe(meant);
});

it('the last of several leases in a file counts, if it can be read', () => {
  const [old, young] = [dhclient('a:0:0:1'), dhclient('a8:3f:81:10')];
  expect(inText(old + young)).toBe('168.63.129.16');
  expect(inText(`${old}${young}${dhclient('a8:3f')}`)).toBe('168.63.129.16');
});

it.each([
  ['nothing', ''],
  ['other options', dhclient('a8:3f:81:10').replaceAll('245', '244')],
  ['a longer number', 'OPTION_2450=a83f8110\n'],
  ['too few bytes', 'OPTION_245=a83f81\n'],
  ['too many bytes', 'OPTION_245=a83f8110aa\n'],
  ['an address of nobody', 'OPTION_245=00000000\n'],
  ['an address on the next line', 'OPTION_245=\na83f8110\n'],
])('a file with %s names nobody', (_, text) => {
  expect(inText(text)).toBeNull();
});

it('any bytes are read without a throw, and quickly', () => {
  const piece = fc.constantFrom(
    'OPTION_245=',
    'unknown-245 ',
    '"',
    '\\',
    'a8:3f',
    '\n',
    ':',
    'a83f8110',
    'x',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.uint8Array({ maxLength: 300 }), (pieces, random) => {
      inText(pieces.join(''));
      fabricInLease(random);
    }),
  );
  const begunAt = performance.now();
  inText(`OPTION_245="${'\\'.repeat(1_000_000)}`);
  inText('OPTION_245='.repeat(90_000));
  expect(performance.now() - begunAt).toBeLessThan(1_000);
});
