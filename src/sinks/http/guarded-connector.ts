// Makes the connections of HTTP sinks, and refuses those to where the bridge must not send.
import { type LookupOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { EgressBlocked, mayConnect } from './egress.ts';
import { proxyOf, tunnelConnector } from './proxy.ts';
import { minVersion, secureContextOf, type TlsTexts } from './tls-files.ts';

export type Connector = buildConnector.connector;

export interface ConnectorOptions {
  readonly allowLoopback: boolean;
  readonly connectTimeoutMs: number;
  /** What the files of the TLS settings say. */
  readonly tls: TlsTexts;
  /** The name that the receiver's certificate must have; that of the URL when not given. */
  readonly serverName?: string | undefined;
  /** The URL of a proxy that makes all connections. */
  readonly proxy?: string | undefined;
}

/**
 * A connector for undici's `Agent`; loads undici.
 * @throws TlsFileFault, ProxyFault
 */
export async function openGuardedConnector(options: ConnectorOptions): Promise<Connector> {
  // By its default: a bundle knows no other name of a CommonJS package that is imported late.
  const { buildConnector } = (await import('undici')).default;
  const { allowLoopback, connectTimeoutMs: timeout, tls, serverName } = options;

  const connectorWith = (texts: TlsTexts, toLoopback: boolean, servername?: string): Connector => {
    const secureContext = secureContextOf(texts);
    return buildConnector({
      allowH2: false,
      timeout,
      lookup: guardedLookup(toLoopback),
      minVersion,
      // Said aloud, because a variable of the process could switch it off.
      rejectUnauthorized: true,
      ...(secureContext === null ? {} : { secureContext }),
      ...(servername === undefined ? {} : { servername }),
    });
  };

  const toReceiver = connectorWith(tls, allowLoopback, serverName);
  if (options.proxy === undefined) return guarded(toReceiver, allowLoopback);
  const proxy = proxyOf(options.proxy);
  // Whoever names a proxy on this machine means it; our certificate is for the receiver alone.
  const toProxy = guarded(connectorWith(tls.ca === undefined ? {} : { ca: tls.ca }, true), true);
  return guarded(tunnelConnector({ proxy, toProxy, toReceiver, timeoutMs: timeout }), allowLoopback);
}

/** Node resolves no address that is written as one, so the guard in the look-up alone would miss it. */
const guarded =
  (connect: Connector, allowLoopback: boolean): Connector =>
  (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) === 0 || mayConnect(host, allowLoopback)) connect(target, callback);
    else queueMicrotask(() => callback(new EgressBlocked(), null));
  };

/**
 * Connects, TLS included, and hangs up: the receiver sees no request.
 * @throws what the connector answers, or the reason of `signal`
 */
export async function tryConnecting(connect: Connector, url: URL, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const { hostname, host, protocol, port } = url;
  connect({ hostname, host, protocol, port }, (error, socket) => {
    socket?.destroy();
    if (error === null) resolve();
    else reject(error);
  });
  await promise.finally(() => signal.removeEventListener('abort', onAbort));
}

/** Resolves a name and keeps only the addresses that the bridge may connect to. */
const guardedLookup =
  (allowLoopback: boolean): LookupFunction =>
  (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, []);
      const allowed = found.filter(({ address }) => mayConnect(address, allowLoopback));
      const [first] = allowed;
      if (first === undefined) return callback(new EgressBlocked(), []);
      if (options.all === true) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };
