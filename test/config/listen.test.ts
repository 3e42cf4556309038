// Whether an address to listen on is read as a person means it, and whether it is open to others.
import { expect, test } from 'vitest';
import * as z from 'zod';
import { isLoopback, listenAddress, listenText, parseListenAddress } from '../../src/config/listen.ts';

const setting = z.strictObject({ listen: listenAddress('127.0.0.1:9464') });

test.each<[string | number, string]>([
  ['127.0.0.1:9464', '127.0.0.1:9464'],
  ['0.0.0.0:80', '0.0.0.0:80'],
  ['[::1]:9464', '[::1]:9464'],
  ['[::]:0', '[::]:0'],
  ['localhost:9464', 'localhost:9464'],
  ['node-1.example.com:65535', 'node-1.example.com:65535'],
  [':9464', '127.0.0.1:9464'],
  ['9464', '127.0.0.1:9464'],
  [9464, '127.0.0.1:9464'],
  [0, '127.0.0.1:0'],
  [' 9464 ', '127.0.0.1:9464'],
])('%j is read as %s', (written, meant) => {
  expect(listenText(setting.parse({ listen: written }).listen)).toBe(meant);
});

test('nothing given is port 9464 of this machine alone', () => {
  expect(setting.parse({}).listen).toEqual({ host: '127.0.0.1', port: 9464 });
});

test.each([
  '',
  ':',
  'localhost',
  '127.0.0.1',
  '127.0.0.1:',
  '127.0.0.1:65536',
  '127.0.0.1:-1',
  '127.0.0.1:9464x',
  '1.2.3:80',
  '256.0.0.1:80',
  '::1:9464',
  '[127.0.0.1]:80',
  '[::1]',
  '*:9464',
  'a b:80',
  'http://127.0.0.1:9464',
  '-a:80',
  1.5,
  -1,
  70_000,
  null,
])('%j is refused with an example', (written) => {
  const faults = setting.safeParse({ listen: written }).error?.issues.map(({ message }) => message);
  expect(faults).toEqual(['Expected host:port such as 127.0.0.1:9464, [::1]:9464 or 9464']);
});

test.each<[string, boolean]>([
  ['127.0.0.1:1', true],
  ['127.9.8.7:1', true],
  ['[::1]:1', true],
  ['LocalHost:1', true],
  ['0.0.0.0:1', false],
  ['[::]:1', false],
  ['10.0.0.4:1', false],
  ['127.example.com:1', false],
])('%s is for this machine alone: %s', (written, expected) => {
  const address = parseListenAddress(written);
  expect(address && isLoopback(address)).toBe(expected);
});
