// Decides which addresses the bridge may send to: a mistyped URL must not make it talk to the VM's own fabric.
import { BlockList, isIP, isIPv6 } from 'node:net';

/** Thrown by the connector when it refuses an address; says nothing about the address. */
export class EgressBlocked extends Error {
  readonly code = 'ERR_EGRESS_BLOCKED';

  constructor() {
    super('the bridge does not send to this address');
  }
}

const never = new BlockList();
// "This host": Linux connects 0.0.0.0 to the machine itself.
never.addSubnet('0.0.0.0', 8, 'ipv4');
// Link-local, where instance metadata lives.
never.addSubnet('169.254.0.0', 16, 'ipv4');
// Azure's wire server: hands out the VM's certificates and settings from a public-looking address.
never.addAddress('168.63.129.16', 'ipv4');
never.addSubnet('224.0.0.0', 4, 'ipv4');
never.addAddress('255.255.255.255', 'ipv4');
never.addAddress('::', 'ipv6');
never.addSubnet('fe80::', 10, 'ipv6');
never.addSubnet('ff00::', 8, 'ipv6');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * Whether the bridge may connect to an address.
 * @param address an IP address in the spelling that URLs and resolvers give, without brackets
 * @param allowLoopback the sink's `allowHttp`
 */
export function mayConnect(address: string, allowLoopback: boolean): boolean {
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) === 0) return false;
  return [bare, ...embedded(bare)].every(
    (form) => !listed(never, form) && (allowLoopback || !listed(loopback, form)),
  );
}

/** Whether the host of a URL is written as this very machine. */
export function isThisMachine({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || (mayConnect(host, true) && !mayConnect(host, false));
}

const listed = (list: BlockList, address: string): boolean =>
  list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/** The IPv4 addresses that a network may make of an IPv6 address. */
function embedded(address: string): string[] {
  if (!isIPv6(address)) return [];
  const groups = groupsOf(address);
  const low = dotted(groups[6], groups[7]);
  const head = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':');
  // IPv4-compatible, IPv4-mapped, IPv4-translated (RFC 4291, 2765); NAT64 (RFC 6052).
  const lowHeads = ['0:0:0:0:0:0', '0:0:0:0:0:ffff', '0:0:0:0:ffff:0', '64:ff9b:0:0:0:0'];
  // ::1 is itself, and not 0.0.0.1 in an old form.
  if (head === lowHeads[0] && low === '0.0.0.1') return [];
  if (lowHeads.includes(head)) return [low];
  if (head.startsWith('64:ff9b:1:')) return [low, ...withinLocalNat64(groups)];
  // 6to4 (RFC 3056).
  if (groups[0] === 0x2002) return [dotted(groups[1], groups[2])];
  // Teredo (RFC 4380): its server, and its client with all bits turned.
  if (groups[0] === 0x2001 && groups[1] === 0) {
    return [dotted(groups[2], groups[3]), dotted(0xffff ^ (groups[6] ?? 0), 0xffff ^ (groups[7] ?? 0))];
  }
  return [];
}

/**
 * What shorter prefixes of the local NAT64 range make of an address (RFC 8215; RFC 6052, section 2.2: the bits 64 to
 * 71 are left out). What begins with 0 is the filling of a longer prefix.
 */
function withinLocalNat64(groups: readonly number[]): string[] {
  const bytes = groups.flatMap((group) => [group >> 8, group & 255]);
  const places = [
    [6, 7, 9, 10],
    [7, 9, 10, 11],
    [9, 10, 11, 12],
  ];
  return places
    .map((place) => place.map((at) => bytes[at]).join('.'))
    .filter((address) => !address.startsWith('0.'));
}

const dotted = (high = 0, low = 0): string => [high >> 8, high & 255, low >> 8, low & 255].join('.');

/** The eight 16-bit groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const hex = address.replace(/\d+\.\d+\.\d+\.\d+$/, (v4) => {
    const [a = 0, b = 0, c = 0, d = 0] = v4.split('.').map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = '', tail] = hex.split('::');
  const parse = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const front = parse(head);
  const back = parse(tail ?? '');
  return [...front, ...Array.from({ length: 8 - front.length - back.length }, () => 0), ...back];
}
