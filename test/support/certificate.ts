// Issues certificates for servers in tests, so that no private key has to lie in the repository.
import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface CertificateOptions {
  /** DNS names and IPv4 addresses that the certificate stands for. */
  readonly names?: readonly string[];
  /** Epoch ms. */
  readonly notBeforeAt?: number;
  readonly notAfterAt?: number;
}

const day = 86_400_000;

/**
 * A self-signed certificate (X.509 v3, ECDSA P-256), in PEM.
 * It may sign for itself, so that a client which is given it as an authority trusts it.
 */
export function issueCertificate(options: CertificateOptions = {}): Certificate {
  const { names = ['localhost', '127.0.0.1'] } = options;
  const { notBeforeAt = Date.now() - day, notAfterAt = Date.now() + day } = options;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = nameOf(names[0] ?? 'nobody');
  const body = sequence(
    tagged(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    subject,
    sequence(time(notBeforeAt), time(notAfterAt)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(basicConstraints, alternativeNames(names))),
  );
  const certificate = sequence(body, ecdsaWithSha256, bits(signatureOf(body, privateKey)));
  return { key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), cert: pem(certificate) };
}

const signatureOf = (body: Buffer, key: KeyObject): Buffer => createSign('sha256').update(body).sign(key);

/** Lets this process trust more certificates for a while. */
export function trust(certificates: readonly string[]): Disposable {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, ...certificates]);
  return { [Symbol.dispose]: () => setDefaultCACertificates(before) };
}

/** DER: a tag, the length of the content, the content. */
function tagged(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const long = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : long)]), content]);
}

const sequence = (...contents: readonly Buffer[]): Buffer => tagged(0x30, ...contents);
const integer = (value: Buffer): Buffer => tagged(0x02, value);
const bits = (value: Buffer): Buffer => tagged(0x03, Buffer.of(0), value);
const octets = (value: Buffer): Buffer => tagged(0x04, value);
const identifier = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'));

// 1.2.840.10045.4.3.2, 2.5.4.3, 2.5.29.19 and 2.5.29.17, as DER spells them.
const ecdsaWithSha256 = sequence(identifier('2a8648ce3d040302'));
const commonName = identifier('550403');
const basicConstraints = extension('551d13', sequence(tagged(0x01, Buffer.of(0xff))));

const nameOf = (text: string): Buffer =>
  sequence(tagged(0x31, sequence(commonName, tagged(0x0c, Buffer.from(text, 'utf8')))));

/** UTCTime, with a year of two digits: what RFC 5280 asks for until 2049. */
const time = (at: number): Buffer =>
  tagged(
    0x17,
    Buffer.from(
      `${new Date(at)
        .toISOString()
        .replace(/[-:T]|\..*$/g, '')
        .slice(2)}Z`,
      'ascii',
    ),
  );

function extension(hex: string, value: Buffer): Buffer {
  return sequence(identifier(hex), octets(value));
}

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    isIPv4(name) ? tagged(0x87, Buffer.from(name.split('.').map(Number))) : tagged(0x82, Buffer.from(name)),
  );
  return extension('551d11', sequence(...entries));
}

const pem = (der: Buffer): string => {
  // No empty line at the end, which OpenSSL refuses.
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
};
