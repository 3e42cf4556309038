// The `$cbs` node: clients put tokens there before they use anything else.
import type { AmqpReceiver, AmqpRequest } from './amqp.ts';
import { type Reply, serveRequests } from './request-link.ts';
import type { Peer } from './service.ts';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The token: a value in most clients, bytes in some. */
function tokenOf(body: unknown): string {
  const content = (body as { readonly content?: unknown } | null | undefined)?.content ?? body;
  return Buffer.isBuffer(content) ? content.toString() : text(content);
}

const refuse = (reason: string): Reply => ({
  statusCode: 401,
  description: `Unauthorized access: ${reason}.`,
  condition: 'amqp:unauthorized-access',
});

function putToken(peer: Peer, request: AmqpRequest): Reply {
  const { operation, type, name } = request.application_properties ?? {};
  if (operation !== 'put-token') return { statusCode: 400, description: 'The operation is not put-token.' };
  if (peer.service.faults.strike('authorize') !== undefined) return refuse('a fault was asked for');
  const result = peer.service.tokens.present(text(type), tokenOf(request.body), text(name));
  if (!result.ok) return refuse(result.reason);
  peer.claims.add(result.grant);
  return { statusCode: 202, description: 'Accepted' };
}

/** Serves a client's link to `$cbs`: what it presents counts for its whole connection. */
export function serveCbs(peer: Peer, receiver: AmqpReceiver): void {
  serveRequests(receiver, (request) => putToken(peer, request));
}
