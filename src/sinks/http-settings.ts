// The settings that every HTTP sink has.
import { isIP } from 'node:net';
import * as z from 'zod';
import { duration } from '../config/duration.ts';
import { secret } from '../config/secret.ts';

const text = () => z.string().min(1).exactOptional();

const tlsSettings = z
  .strictObject({
    caFile: text().describe(
      'PEM file of the authorities that may vouch for the receiver (and for a proxy of `https:`), instead of those that the machine trusts.',
    ),
    certFile: text().describe('PEM file of the certificate to show to a receiver that wants to see one.'),
    keyFile: text().describe('PEM file of the private key of that certificate.'),
    passphrase: secret().exactOptional().describe('What the private key is encrypted with.'),
    serverName: text()
      .refine((name) => isIP(name) === 0, 'serverName is a name, not an address')
      .describe(
        'The name that the certificate of the receiver must have, where that is not the one in the URL.',
      ),
  })
  .refine(
    ({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined),
    'certFile and keyFile go together',
  )
  .prefault({})
  .describe('TLS, from 1.2 on; files are read anew when they change.');

/** How to reach a receiver: to be spread into the settings of a sink. */
export const connectionSettings = {
  allowHttp: z
    .boolean()
    .default(false)
    .describe('Allow plain `http:` and receivers on this very machine (loopback).'),
  timeout: duration({ default: '15s', min: '100ms', max: '2m' }).describe(
    'Time allowed for one attempt as a whole.',
  ),
  connectTimeout: duration({ default: '5s', min: '100ms', max: '1m' }).describe(
    'Time allowed for connecting, TLS included; through a proxy, for each step of it.',
  ),
  tls: tlsSettings,
  proxy: secret()
    .exactOptional()
    .describe(
      'URL of a proxy that makes the connections (CONNECT), such as `http://user:password@proxy:3128`; it may be on this machine. The proxy resolves the name of the receiver, so what a name must not lead to is then for the proxy to refuse. Variables such as `https_proxy` count for nothing.',
    ),
} as const;

/** The same, for a receiver that is given by its URL. */
export const httpSettings = {
  url: secret().describe('Where to POST. Counts as a secret: many receivers put their key into it.'),
  ...connectionSettings,
} as const;

// What belongs to the connection (RFC 9110, section 7.6.1) or is the sink's own to say.
const deniedHeaders: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'content-type',
  'user-agent',
];

const isDenied = (name: string): boolean => deniedHeaders.includes(name) || name.startsWith('webhook-');

/** More headers for each request, such as a bearer token; their values may be secrets. */
export const headerSettings = z
  .record(z.string(), secret())
  .superRefine((headers, context) => {
    for (const name of Object.keys(headers)) {
      const message = headerFault(name);
      if (message !== null) context.addIssue({ code: 'custom', path: [name], message });
    }
  })
  .prefault({})
  .describe('More headers for each request, such as `Authorization`; values may be secrets.');

/** What is wrong with the name of a header that a person chose, as a sentence; null when nothing is. */
export function headerFault(name: string): string | null {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return 'This is no name for a header';
  return isDenied(name.toLowerCase()) ? 'This header is set by the sink itself' : null;
}
