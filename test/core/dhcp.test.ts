// Whether DHCP messages are written as the standards say, and read whatever they hold.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeDhcp, encodeDiscover, fabricFromAnswer, fabricOf, hostAddress } from '../../src/core/dhcp.ts';
import { fabricBytes, offerTo, writtenMessage, writtenOptions } from '../support/dhcp.ts';

const question = {
  transactionId: 0x3903f326,
  hardwareAddress: Uint8Array.of(0x00, 0x0d, 0x3a, 0x12, 0x34, 0x56),
  secondsElapsed: 3,
};

const bytes = (max: number) => fc.array(fc.nat({ max: 255 }), { maxLength: max });
const option = fc.tuple(fc.integer({ min: 1, max: 254 }), bytes(255));
const anyQuestion = fc.record({
  transactionId: fc.nat({ max: 2 ** 32 - 1 }),
  hardwareAddress: fc.uint8Array({ maxLength: 16 }),
  secondsElapsed: fc.nat({ max: 65_535 }),
});

describe('the question', () => {
  it('is these bytes', () => {
    const nothing = (length: number): string => '00'.repeat(length);
    const head = `010106003903f32600038000${nothing(16)}000d3a123456${nothing(10)}${nothing(64 + 128)}`;
    const expected = `${head}63825363 350101 3701f5 ff`.replaceAll(' ', '').padEnd(600, '0');
    expect(Buffer.from(encodeDiscover(question)).toString('hex')).toBe(expected);
  });

  it('is read as it was written, and is no answer', () => {
    fc.assert(
      fc.property(anyQuestion, (asked) => {
        const read = decodeDhcp(encodeDiscover(asked));
        expect(read).toMatchObject({ ...asked, direction: 'question', broadcast: true });
        expect([...(read?.options ?? [])]).toEqual([
          [53, Uint8Array.of(1)],
          [55, Uint8Array.of(245)],
        ]);
        expect(fabricFromAnswer(asked, encodeDiscover(asked))).toBeNull();
      }),
    );
  });
});

describe('an answer', () => {
  it('has every option that was written, in pieces or whole', () => {
    const unlike52 = option.filter(([code]) => code !== 52);
    fc.assert(
      fc.property(fc.array(unlike52, { maxLength: 20 }), (options) => {
        const expected = new Map<number, number[]>();
        for (const [code, value] of options) expected.set(code, [...(expected.get(code) ?? []), ...value]);
        const read = decodeDhcp(writtenMessage({ options }))?.options ?? new Map();
        expect([...read].map(([code, value]) => [code, [...value]])).toEqual([...expected]);
      }),
    );
  });

  it.each([
    ['the name of a file', 1, 'file'],
    ['the name of a server', 2, 'serverName'],
    ['both names', 3, 'serverName'],
  ] as const)('is read on where %s would stand, when option 52 says so', (_, overload, place) => {
    const elsewhere = { file: writtenOptions([]), [place]: writtenOptions([[245, fabricBytes]]) };
    const found = decodeDhcp(writtenMessage({ options: [[52, [overload]]], ...elsewhere }));
    expect(found === null ? null : fabricOf(found)).toBe('168.63.129.16');
    expect(
      fabricOf(decodeDhcp(writtenMessage({ options: [], ...elsewhere })) ?? { options: new Map() }),
    ).toBe(null);
  });

  it('names the fabric to who asked', () => {
    expect(fabricFromAnswer(question, offerTo(encodeDiscover(question)))).toBe('168.63.129.16');
  });

  it.each([
    ['to another question', { transactionId: 1 }],
    ['to another machine', { hardwareAddress: [1, 2, 3, 4, 5, 6] }],
    ['that is a question itself', { operation: 1 }],
    [
      'that is no offer',
      {
        options: [
          [53, [6]],
          [245, fabricBytes],
        ],
      },
    ],
  ] as const)('counts for nothing %s', (_, changes) => {
    expect(fabricFromAnswer(question, offerTo(encodeDiscover(question), changes))).toBeNull();
  });

  it.each([
    ['without option 245', [53, [2]]],
    ['with three bytes in it', [245, [168, 63, 129]]],
    ['with eight', [245, [...fabricBytes, ...fabricBytes]]],
    ['with an address of nobody', [245, [0, 0, 0, 0]]],
    ['with this machine in it', [245, [127, 0, 0, 1]]],
    ['with everybody in it', [245, [255, 255, 255, 255]]],
  ] as const)('names nobody %s', (_, last) => {
    const options = [[53, [2]], last] as const;
    expect(fabricFromAnswer(question, offerTo(encodeDiscover(question), { options }))).toBe('none');
  });

  it('of any bytes is read without a throw, and counts for nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 700 }), (random) => {
        expect(fabricFromAnswer(question, random)).toBeNull();
      }),
    );
  });

  it('that is torn within an option, or has another cookie, counts for nothing', () => {
    const offer = offerTo(encodeDiscover(question));
    const cookieAt = 236;
    expect(fabricFromAnswer(question, offer.with(cookieAt, 98))).toBeNull();
    // Behind the four bytes of the address stands the end.
    for (const missing of [2, 3, 4, 5, 6]) {
      expect(fabricFromAnswer(question, offer.subarray(0, offer.length - missing))).toBeNull();
    }
  });

  it('with any one byte changed says the same, another address, or nothing', () => {
    const offer = offerTo(encodeDiscover(question));
    fc.assert(
      fc.property(fc.nat({ max: offer.length - 1 }), fc.nat({ max: 255 }), (at, value) => {
        const said = fabricFromAnswer(question, offer.with(at, value));
        expect(said === null || said === 'none' || /^\d+\.\d+\.\d+\.\d+$/.test(said)).toBe(true);
      }),
    );
  });
});

it('an address is four bytes that a host could have', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 6 }), (random) => {
      const [first = 0] = random;
      const isHost = random.length === 4 && first > 0 && first !== 127 && first < 224;
      expect(hostAddress(random)).toBe(isHost ? random.join('.') : null);
    }),
  );
});
