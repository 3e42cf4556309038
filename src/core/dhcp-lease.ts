// Finds option 245 in what DHCP clients keep of their leases, however each of them spells it.
import { decodeDhcp, fabricOf, hostAddress } from './dhcp.ts';

// systemd-networkd: OPTION_245=a83f8110 · dhclient: option unknown-245 a8:3f:81:10; · NetworkManager: private_245=…
// and unknown_245 · cloud-init: "unknown-245": "a8:3f:81:10".
const spelling =
  /\b(?:OPTION|option|unknown|private)[-_]245\b"?[ \t]*[=:]?[ \t]*("(?:[^"\\\n]|\\.){0,64}"|[\da-f:]{1,64})/gi;

/**
 * The address that a lease file names for Azure's fabric.
 * @param content the file, as text of any client but dhcpcd, whose leases are DHCP messages
 * @returns the last one that can be read, as dhclient adds to its files; null when there is none
 */
export function fabricInLease(content: Uint8Array): string | null {
  const message = decodeDhcp(content);
  if (message !== null) return fabricOf(message);
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
  return [...text.matchAll(spelling)].reduce(
    (found: string | null, [, value = '']) => hostAddress(bytesOf(value)) ?? found,
    null,
  );
}

function bytesOf(value: string): Uint8Array {
  const inside = value.replace(/^"([\s\S]*)"$/, '$1');
  if (/^[\da-f]{8}$/i.test(inside)) return Uint8Array.from(Buffer.from(inside, 'hex'));
  const parts = inside.split(':');
  if (parts.length === 4 && parts.every((part) => /^[\da-f]{1,2}$/i.test(part))) {
    return Uint8Array.from(parts, (part) => Number.parseInt(part, 16));
  }
  // dhclient writes bytes as text when all of them are letters, digits and signs.
  return Uint8Array.from(Buffer.from(inside.replaceAll(/\\(.)/g, '$1'), 'latin1'));
}
