// The bytes of a body: as they were sent, or one text for each AMQP value.
import { expect, test } from 'vitest';
import { bodyBytes } from '../../src/consumer/body-bytes.ts';

const textOf = (body: unknown): string => Buffer.from(bodyBytes(body)).toString('utf8');

test('bytes stay what they are', () => {
  const bytes = Buffer.from([0, 255, 10]);
  expect(bodyBytes(bytes)).toBe(bytes);
});

test('several data sections are one body', () => {
  expect(textOf([Buffer.from('{"a"'), Buffer.from(':1}')])).toBe('{"a":1}');
});

test('a text is its own bytes, and other values are their JSON', () => {
  expect(textOf('Größe')).toBe('Größe');
  expect(textOf({ a: [1, null] })).toBe('{"a":[1,null]}');
  expect(textOf(12n)).toBe('"12"');
  expect(textOf(undefined)).toBe('');
});
