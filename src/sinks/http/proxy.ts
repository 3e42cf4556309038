// Makes connections through a proxy: asks it for a tunnel (CONNECT) and hands over what comes out at the other end.
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { EgressBlocked } from './egress.ts';
import type { Connector } from './guarded-connector.ts';

type Code = 'ERR_PROXY_UNREACHABLE' | 'ERR_PROXY_AUTHENTICATION' | 'ERR_PROXY_REFUSED' | 'ERR_PROXY_INVALID';

/** The proxy did not let us through; says nothing about where it is, because its URL may hold a password. */
export class ProxyFault extends Error {
  readonly code: Code;

  constructor(code: Code) {
    super('the proxy did not make a connection');
    this.code = code;
  }
}

/** Where a proxy is, and how to log in there. */
export interface Proxy {
  readonly url: URL;
  /** The value of `Proxy-Authorization`. */
  readonly authorization?: string;
}

/**
 * Reads the URL of a proxy, such as `http://user:password@proxy.test:3128`.
 * @throws ProxyFault
 */
export function proxyOf(text: string): Proxy {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new ProxyFault('ERR_PROXY_INVALID');
  const { username, password, pathname, search, hash } = url;
  if (pathname !== '/' || search !== '' || hash !== '') throw new ProxyFault('ERR_PROXY_INVALID');
  if (username === '' && password === '') return { url };
  return { url, authorization: `Basic ${base64Of(username, password)}` };
}

function base64Of(...parts: readonly [string, string]): string {
  try {
    return Buffer.from(parts.map(decodeURIComponent).join(':'), 'utf8').toString('base64');
  } catch {
    throw new ProxyFault('ERR_PROXY_INVALID');
  }
}

export interface TunnelOptions {
  readonly proxy: Proxy;
  /** Connects to the proxy. */
  readonly toProxy: Connector;
  /** Speaks TLS with the receiver, over a connection that stands. */
  readonly toReceiver: Connector;
  /** How long the proxy may take to answer. */
  readonly timeoutMs: number;
}

/** A connector whose connections all go through a proxy. The proxy resolves the name of the receiver. */
export function tunnelConnector(options: TunnelOptions): Connector {
  return (target, callback) => {
    connectThrough(options, target).then(
      (socket) => callback(null, socket),
      (error: Error) => callback(error, null),
    );
  };
}

async function connectThrough(options: TunnelOptions, target: Target): Promise<Socket> {
  const { proxy, toProxy, toReceiver, timeoutMs } = options;
  const secure = target.protocol === 'https:';
  const host = bare(target.hostname);
  const port = target.port || (secure ? '443' : '80');
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const httpSocket = await openTunnel(proxy, toProxy, { authority, timeoutMs });
  return secure ? await socketOf(toReceiver, { ...target, httpSocket }) : httpSocket;
}

type Target = Parameters<Connector>[0];

/** IPv6 addresses stand in brackets in URLs, and nowhere else. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

function socketOf(connect: Connector, target: Target): Promise<Socket> {
  return new Promise((resolve, reject) => {
    connect(target, (error, socket) => (error === null ? resolve(socket) : reject(error)));
  });
}

interface Tunnel {
  /** Host and port of the receiver, as HTTP writes them. */
  readonly authority: string;
  readonly timeoutMs: number;
}

async function openTunnel(proxy: Proxy, toProxy: Connector, tunnel: Tunnel): Promise<Socket> {
  const socket = await connectTo(proxy.url, toProxy);
  try {
    return await askForTunnel(socket, proxy, tunnel);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** @throws ProxyFault, EgressBlocked */
async function connectTo({ protocol, hostname, host, port }: URL, connect: Connector): Promise<Socket> {
  try {
    return await socketOf(connect, { protocol, hostname: bare(hostname), host, port });
  } catch (error) {
    // The proxy's own TLS among them: what its codes say, they would say of the receiver.
    throw error instanceof EgressBlocked ? error : new ProxyFault('ERR_PROXY_UNREACHABLE');
  }
}

/** @throws ProxyFault */
function askForTunnel(socket: Socket, proxy: Proxy, { authority, timeoutMs }: Tunnel): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { authorization } = proxy;
  const asking = request({
    createConnection: () => socket,
    method: 'CONNECT',
    path: authority,
    headers: {
      host: authority,
      ...(authorization === undefined ? {} : { 'proxy-authorization': authorization }),
    },
  });
  const unreachable = () => reject(new ProxyFault('ERR_PROXY_UNREACHABLE'));
  const timer = setTimeout(unreachable, timeoutMs);
  // Nothing can have come behind the answer: neither TLS nor HTTP lets the receiver speak first.
  asking.once('connect', ({ statusCode = 0 }) => {
    if (statusCode >= 200 && statusCode < 300) resolve(socket);
    else reject(new ProxyFault(statusCode === 407 ? 'ERR_PROXY_AUTHENTICATION' : 'ERR_PROXY_REFUSED'));
  });
  asking.on('error', unreachable).end();
  return promise.finally(() => clearTimeout(timer));
}
