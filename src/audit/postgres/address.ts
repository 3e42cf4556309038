// Where PostgreSQL is and how the way there is protected: read from the URL, which is a secret as a whole.
import { readFileSync } from 'node:fs';
import { TrailUnusable } from '../store.ts';

/** What `pg` is told of one connection. */
export interface PostgresPlace {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Null when the URL holds none. */
  readonly password: string | null;
  readonly ssl: false | { readonly rejectUnauthorized: true; readonly ca?: string };
  /** How the way there is protected, for a sentence. */
  readonly protection: 'over TLS' | 'on this machine' | 'without TLS';
}

/** A URL that says what cannot be: one sentence, without the URL. */
export class AddressUnusable extends TrailUnusable {}

const modes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];
const parameters = ['sslmode', 'host'];

/**
 * Reads a URL. The server's certificate and its name are always verified, whether `sslmode` says `require`,
 * `verify-ca` or `verify-full`; without `sslmode` only a server on this machine is spoken to in plain.
 * `sslmode=disable` is obeyed, and what would fall back to plain or to no verification is refused.
 * @param caFile PEM of the authority
 * @throws AddressUnusable
 */
export function readAddress(url: string, caFile: string | undefined): PostgresPlace {
  const parsed = parse(url);
  const socket = parsed.searchParams.get('host');
  const host = socket ?? decodeURIComponent(parsed.hostname.replace(/^\[(.+)\]$/, '$1'));
  const user = decodeURIComponent(parsed.username);
  const database = decodeURIComponent(parsed.pathname.slice(1));
  if (host === '') throw refuse('names no host');
  if (user === '') throw refuse('names no user');
  if (database === '' || database.includes('/')) throw refuse('names no database');
  if (socket !== null && !socket.startsWith('/'))
    throw refuse('may name only the folder of a socket by host=');
  const ssl = sslFor(host, modeOf(parsed), caFile);
  return {
    ...{ host, user, database, ssl },
    port: parsed.port === '' ? 5432 : Number(parsed.port),
    password: parsed.password === '' ? null : decodeURIComponent(parsed.password),
    protection: ssl !== false ? 'over TLS' : isHere(host) ? 'on this machine' : 'without TLS',
  };
}

const refuse = (why: string): AddressUnusable => new AddressUnusable(`the URL of the trail ${why}`);

function parse(url: string): URL {
  // `postgres:///database?host=/folder` has no host of its own.
  const parsed = URL.parse(url);
  if (parsed === null || !/^postgres(?:ql)?:$/.test(parsed.protocol)) {
    throw refuse('is not of the form postgres://USER:PASSWORD@HOST:PORT/DATABASE');
  }
  for (const name of parsed.searchParams.keys()) {
    if (!parameters.includes(name)) {
      throw refuse(
        'has a parameter that is not known here: only sslmode and host are; an authority goes into caFile',
      );
    }
  }
  try {
    for (const part of [parsed.username, parsed.password, parsed.pathname, parsed.hostname]) {
      decodeURIComponent(part);
    }
  } catch {
    throw refuse('holds a % that begins no escape: write it as %25');
  }
  return parsed;
}

function modeOf({ searchParams }: URL): Mode | null {
  const said = searchParams.get('sslmode');
  if (said === null) return null;
  const mode = modes.find((name) => name === said);
  if (mode === undefined)
    throw refuse(`may have sslmode ${modes.join(', ')} only: another one protects nothing`);
  return mode;
}

/** A host of this machine: a socket's folder, or a loopback address. */
const isHere = (host: string): boolean =>
  host.startsWith('/') || host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);

function sslFor(host: string, mode: Mode | null, caFile: string | undefined): PostgresPlace['ssl'] {
  if (mode === 'disable' || host.startsWith('/')) return false;
  if (mode === null && caFile === undefined && isHere(host)) return false;
  return { rejectUnauthorized: true, ...(caFile === undefined ? {} : { ca: readAuthority(caFile) }) };
}

function readAuthority(caFile: string): string {
  try {
    const text = readFileSync(caFile, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch {
    throw new AddressUnusable(`trail.caFile ${caFile} cannot be read`);
  }
  throw new AddressUnusable(`trail.caFile ${caFile} holds no certificate in PEM`);
}
