// An address to listen on, as people write it: `127.0.0.1:9464`, `[::1]:9464`, `:9464` or just `9464`.
import { isIP } from 'node:net';
import * as z from 'zod';

/** Where a server listens. */
export interface ListenAddress {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
}

const loopback = '127.0.0.1';
const expected = 'Expected host:port such as 127.0.0.1:9464, [::1]:9464 or 9464';

/**
 * A setting that reads an address. A port alone is one of this machine itself: nobody else reaches it by accident.
 * @param usual the address when none is given
 */
export const listenAddress = (usual: string) =>
  z
    .union([z.string(), z.int()], expected)
    .transform((written, context): ListenAddress => {
      const address = parseListenAddress(String(written));
      if (address !== null) return address;
      context.issues.push({ code: 'custom', message: expected, input: written });
      return z.NEVER;
    })
    .prefault(usual);

/** @returns null when it is no address */
export function parseListenAddress(written: string): ListenAddress | null {
  const match = /^(?:\[([0-9a-f:.]+)\]:|([^:\s[\]/]*):)?(\d{1,5})$/i.exec(written.trim());
  if (match === null) return null;
  const [, bracketed, plain] = match;
  const port = Number(match[3]);
  const host = bracketed ?? (plain || loopback);
  const isHost = bracketed === undefined ? isIP(host) === 4 || isName(host) : isIP(host) === 6;
  return isHost && port <= 65_535 ? { host, port } : null;
}

/** What looks like an IPv4 address and is none must not be looked up as a name. */
const isName = (host: string): boolean =>
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/i.test(host) && !/^[\d.]+$/.test(host);

/** Whether only programs on this machine can reach the address. */
export const isLoopback = ({ host }: ListenAddress): boolean =>
  host === '::1' || host.toLowerCase() === 'localhost' || (isIP(host) === 4 && host.startsWith('127.'));

/** As people write it. */
export const listenText = ({ host, port }: ListenAddress): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
