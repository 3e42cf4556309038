// Makes the connections of HTTP sinks, and refuses those to where the bridge must not send.
import { type LookupOptions, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector } from 'undici';
import { EgressBlocked, mayConnect } from './egress.ts';

export type Connector = buildConnector.connector;

export interface ConnectorOptions {
  readonly allowLoopback: boolean;
  readonly connectTimeoutMs: number;
}

/** A connector for undici's `Agent`; loads undici. */
export async function openGuardedConnector(options: ConnectorOptions): Promise<Connector> {
  // By its default: a bundle knows no other name of a CommonJS package that is imported late.
  const { buildConnector } = (await import('undici')).default;
  const { allowLoopback, connectTimeoutMs: timeout } = options;
  const base = buildConnector({ allowH2: false, timeout, lookup: guardedLookup(allowLoopback) });
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    // Node resolves no address that is written as one, so the guard in the look-up alone would miss it.
    if (isIP(host) === 0 || mayConnect(host, allowLoopback)) base(target, callback);
    else queueMicrotask(() => callback(new EgressBlocked(), null));
  };
}

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
