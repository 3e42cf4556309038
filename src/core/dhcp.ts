// Writes the one DHCP question that the bridge has, and reads answers: where Azure's fabric is, which option 245 says.

// RFC 2131, section 2: fields of fixed places, a cookie (RFC 1497), then options (RFC 2132) up to an end.
const offsets = { transactionId: 4, seconds: 8, flags: 10, hardwareAddress: 28, serverName: 44, file: 108 };
const cookieOffset = 236;
const optionsOffset = 240;
const cookie = [99, 130, 83, 99];
const directions = { question: 1, answer: 2 } as const;
const ethernet = 1;
const broadcastFlag = 0x8000;
// Relays drop what is shorter (RFC 1542, section 2.1).
const bytesMin = 300;
const hardwareAddressBytesMax = 16;

const codes = { pad: 0, overload: 52, messageType: 53, requestList: 55, fabric: 245, end: 255 } as const;

/** What a message is about, in option 53. */
export const messageTypes = { discover: 1, offer: 2 } as const;

/** What a DHCP client asks about itself. */
export interface DhcpQuestion {
  /** 32 bits that the answer repeats. */
  readonly transactionId: number;
  /** Of the interface, 6 bytes for Ethernet. */
  readonly hardwareAddress: Uint8Array;
  /** Since the first try. */
  readonly secondsElapsed: number;
}

export interface DhcpMessage extends DhcpQuestion {
  readonly direction: keyof typeof directions;
  /** Whether the answer is wanted for everybody: who asks has no address yet. */
  readonly broadcast: boolean;
  /** By code; an option in several pieces is one (RFC 3396). */
  readonly options: ReadonlyMap<number, Uint8Array>;
}

/** A DHCPDISCOVER that asks for option 245, and for the answer by broadcast. It claims no address. */
export function encodeDiscover({ transactionId, hardwareAddress, secondsElapsed }: DhcpQuestion): Uint8Array {
  const bytes = new Uint8Array(bytesMin);
  const view = new DataView(bytes.buffer);
  bytes.set([directions.question, ethernet, hardwareAddress.length]);
  view.setUint32(offsets.transactionId, transactionId);
  view.setUint16(offsets.seconds, secondsElapsed);
  view.setUint16(offsets.flags, broadcastFlag);
  bytes.set(hardwareAddress, offsets.hardwareAddress);
  const type = [codes.messageType, 1, messageTypes.discover];
  const list = [codes.requestList, 1, codes.fabric];
  bytes.set([...cookie, ...type, ...list, codes.end], cookieOffset);
  return bytes;
}

/** @returns null for what is no whole DHCP message */
export function decodeDhcp(bytes: Uint8Array): DhcpMessage | null {
  if (bytes.length < optionsOffset || cookie.some((byte, at) => bytes[cookieOffset + at] !== byte))
    return null;
  const [operation, , hardwareAddressBytes = 0] = bytes;
  const direction = operation === directions.question ? 'question' : 'answer';
  if (operation !== directions[direction] || hardwareAddressBytes > hardwareAddressBytesMax) return null;
  const options = allOptions(bytes);
  if (options === null) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    direction,
    transactionId: view.getUint32(offsets.transactionId),
    secondsElapsed: view.getUint16(offsets.seconds),
    broadcast: view.getUint16(offsets.flags) >= broadcastFlag,
    hardwareAddress: bytes.subarray(offsets.hardwareAddress, offsets.hardwareAddress + hardwareAddressBytes),
    options,
  };
}

type Option = readonly [code: number, value: Uint8Array];

/** Option 52 says that options go on where names of a server and of a file would stand (RFC 2132, section 9.3). */
function allOptions(bytes: Uint8Array): Map<number, Uint8Array> | null {
  const own = optionsIn(bytes.subarray(optionsOffset));
  const overload = own?.find(([code]) => code === codes.overload)?.[1][0] ?? 0;
  const file = (overload & 1) === 0 ? [] : optionsIn(bytes.subarray(offsets.file, cookieOffset));
  const serverName = (overload & 2) === 0 ? [] : optionsIn(bytes.subarray(offsets.serverName, offsets.file));
  return own === null || file === null || serverName === null
    ? null
    : joined([...own, ...file, ...serverName]);
}

/** @returns null when the last one is cut off */
function optionsIn(area: Uint8Array): Option[] | null {
  const found: Option[] = [];
  let at = 0;
  while (at < area.length && area[at] !== codes.end) {
    const code = area[at] ?? codes.pad;
    const length = area[at + 1];
    if (code === codes.pad) {
      at += 1;
      continue;
    }
    if (length === undefined || at + 2 + length > area.length) return null;
    found.push([code, area.subarray(at + 2, at + 2 + length)]);
    at += 2 + length;
  }
  return found;
}

function joined(options: readonly Option[]): Map<number, Uint8Array> {
  const byCode = new Map<number, Uint8Array>();
  for (const [code, value] of options) {
    byCode.set(code, Uint8Array.of(...(byCode.get(code) ?? []), ...value));
  }
  return byCode;
}

/** What the answer to a question says: the address of the fabric, that it names none, or nothing to this question. */
export function fabricFromAnswer(question: DhcpQuestion, bytes: Uint8Array): string | 'none' | null {
  const message = decodeDhcp(bytes);
  if (message?.direction !== 'answer' || message.transactionId !== question.transactionId) return null;
  if (!isSame(message.hardwareAddress, question.hardwareAddress)) return null;
  if (message.options.get(codes.messageType)?.[0] !== messageTypes.offer) return null;
  return fabricOf(message) ?? 'none';
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);

/** The address in option 245 of a message; null when there is none that a host could have. */
export function fabricOf({ options }: Pick<DhcpMessage, 'options'>): string | null {
  return hostAddress(options.get(codes.fabric) ?? new Uint8Array());
}

/** Four bytes as an IPv4 address; null when no host could have it: a network's, this machine's own, a multicast one. */
export function hostAddress(bytes: Uint8Array): string | null {
  const [first = 0] = bytes;
  return bytes.length === 4 && first !== 0 && first !== 127 && first < 224 ? bytes.join('.') : null;
}
