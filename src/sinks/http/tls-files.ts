// Reads what a sink needs for TLS beyond what the machine has: an authority of its own, a certificate to show.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Secret } from '../../config/secret.ts';

/** The parsed `tls` of a sink. */
export interface TlsSettings {
  readonly caFile?: string | undefined;
  readonly certFile?: string | undefined;
  readonly keyFile?: string | undefined;
  readonly passphrase?: Secret | undefined;
  readonly serverName?: string | undefined;
}

/** What stands in the files; the same texts serve the same connections. */
export interface TlsTexts {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
}

type Code = 'ERR_TLS_FILE_UNREADABLE' | 'ERR_TLS_FILE_INVALID';

/** A file cannot be read or used. Says not which: OpenSSL's own words may quote it. */
export class TlsFileFault extends Error {
  readonly code: Code;

  constructor(code: Code) {
    super('a file of the TLS settings cannot be used');
    this.code = code;
  }
}

/**
 * Reads the files anew, so that a renewed certificate counts without a restart.
 * @throws TlsFileFault, SecretUnreadable
 */
export function readTlsFiles({ caFile, certFile, keyFile, passphrase }: TlsSettings): TlsTexts {
  return {
    ...(caFile === undefined ? {} : { ca: textOf(caFile) }),
    ...(certFile === undefined ? {} : { cert: textOf(certFile) }),
    ...(keyFile === undefined ? {} : { key: textOf(keyFile) }),
    ...(passphrase === undefined ? {} : { passphrase: passphrase.reveal() }),
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new TlsFileFault('ERR_TLS_FILE_UNREADABLE');
  }
}

/** The oldest version that is spoken, whatever the process was started with. */
export const minVersion = 'TLSv1.2';

/**
 * What a connection is secured with; null when the machine's own means are enough.
 * @throws TlsFileFault
 */
export function secureContextOf(texts: TlsTexts): SecureContext | null {
  if (Object.keys(texts).length === 0) return null;
  try {
    if (texts.ca !== undefined) readAuthorities(texts.ca);
    return createSecureContext({ ...texts, minVersion });
  } catch {
    throw new TlsFileFault('ERR_TLS_FILE_INVALID');
  }
}

const certificate = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** Node takes a file without a single certificate for an authority that nobody has: it is rather a mistake. */
function readAuthorities(text: string): void {
  const blocks = text.match(certificate) ?? [];
  if (blocks.length === 0) throw new TlsFileFault('ERR_TLS_FILE_INVALID');
  for (const block of blocks) new X509Certificate(block);
}
