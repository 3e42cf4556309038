// Carries AMQP in a websocket, through a proxy where there is one: for networks that let nothing but HTTPS out.
import { Agent } from 'node:https';
import type { WebSocketImpl, WebSocketOptions } from '@azure/event-hubs';
import type { Secret } from '../../config/secret.ts';
import { networkReason } from '../http/network-fault.ts';
import { ProxyFault, proxyOf } from '../http/proxy.ts';

/** The websockets of one producer: it opens another when the first one was lost. */
export interface HubSockets {
  /** As the SDK wants to have it. */
  readonly options: WebSocketOptions;
  /** What a websocket failed with first since this was last asked; the SDK's own error says less. */
  takeFault(): unknown;
  /** Ends what is open or about to open. */
  terminate(): void;
}

/** Whoever answered is no hub, or does not let a websocket through. */
class WebSocketRefused extends Error {
  override readonly name = 'WebSocketRefused';
}

/**
 * Loads the websockets; does no I/O.
 * @param handshakeTimeout how long opening one may take, in ms
 * @throws SecretUnreadable, ProxyFault
 */
export async function openHubSockets(
  proxy: Secret | undefined,
  handshakeTimeout: number,
): Promise<HubSockets> {
  // Read here first: Node takes a proxy that it cannot read for none at all, and would go past it.
  const proxyEnv = proxy === undefined ? {} : { HTTPS_PROXY: proxyOf(proxy.reveal()).url.href };
  const agent = new Agent({ proxyEnv });
  const { WebSocket } = await import('ws');
  const open = new Set<InstanceType<typeof WebSocket>>();
  let fault: unknown = null;

  class WatchedWebSocket extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given);
      open.add(this);
      this.on('close', () => open.delete(this));
      this.on('error', (error) => {
        fault ??= proxy === undefined ? error : throughProxy(error);
      });
      this.on('unexpected-response', () => {
        fault ??= new WebSocketRefused();
        this.terminate();
      });
    }
  }

  return {
    options: {
      webSocket: WatchedWebSocket as unknown as WebSocketImpl,
      webSocketConstructorOptions: { agent, handshakeTimeout },
    },
    takeFault: () => {
      const taken = fault;
      fault = null;
      return taken;
    },
    terminate: () => {
      for (const socket of open) socket.terminate();
    },
  };
}

const unreachable: readonly unknown[] = ['connection-refused', 'host-unreachable', 'name-not-found'];

/** What a failure means where there is a proxy: whoever cannot be connected to is the proxy. */
function throughProxy(error: Error): Error {
  const { code = '', statusCode } = error as { readonly code?: string; readonly statusCode?: number };
  if (code === 'ERR_PROXY_TUNNEL')
    return new ProxyFault(statusCode === 407 ? 'ERR_PROXY_AUTHENTICATION' : 'ERR_PROXY_REFUSED');
  return unreachable.includes(networkReason(code)) ? new ProxyFault('ERR_PROXY_UNREACHABLE') : error;
}
