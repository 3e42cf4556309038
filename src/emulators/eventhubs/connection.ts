// One client's connection: which link goes to which node, and when it is idle.
import type { Duplex } from 'node:stream';
import { parseAddress } from './address.ts';
import {
  type AmqpConnection,
  type AmqpReceiver,
  type AmqpSender,
  acceptLink,
  afterFlow,
  rawTransfers,
  refuseLink,
} from './amqp.ts';
import { serveCbs } from './cbs.ts';
import { createClaims } from './claims.ts';
import * as errors from './errors.ts';
import { padFrames } from './frame-padding.ts';
import { createLinkHolds, type LinkHolds } from './link-holds.ts';
import { separateLinkNames } from './link-names.ts';
import { serveManagement } from './management.ts';
import { servePublisher } from './publish-link.ts';
import { serveReader } from './read-link.ts';
import type { Peer, Service } from './service.ts';

/** A client that sends: the emulator receives. */
function acceptSender(peer: Peer, link: AmqpReceiver): void {
  const asked = link.target?.address ?? '';
  const address = parseAddress(asked);
  if (address.kind === 'cbs') serveCbs(peer, link);
  else if (address.kind === 'management') serveManagement(peer, link, address.hub);
  else if (address.kind === 'publish') servePublisher(peer, link, address);
  else refuseLink(link, errors.notFound(asked));
}

/** A client that receives: the emulator sends. */
function acceptReceiver(peer: Peer, link: AmqpSender): void {
  const asked = link.source?.address ?? '';
  const address = parseAddress(asked);
  if (address.kind === 'read') serveReader(peer, link, address);
  // The link on which the answers of a node go back.
  else if (address.kind === 'cbs' || address.kind === 'management') acceptLink(link);
  else refuseLink(link, errors.notFound(asked));
}

function routeLinks(peer: Peer, holds: LinkHolds): void {
  const { amqp } = peer;
  amqp.on('receiver_open', ({ receiver }) => receiver && acceptSender(peer, receiver));
  amqp.on('sender_open', ({ sender }) => sender && acceptReceiver(peer, sender));
  amqp.on('receiver_close', ({ receiver }) => receiver && holds.release(receiver));
  amqp.on('sender_close', ({ sender }) => sender && holds.release(sender));
  amqp.on('session_close', ({ session }) => holds.releaseWhere((link) => link.session === session));
}

/** Runs `onGone` when the socket is gone, however that came. */
function watchEnd(amqp: AmqpConnection, socket: Duplex, onGone: () => void): void {
  amqp.on('disconnected', () => undefined);
  amqp.on('connection_close', () => undefined);
  amqp.on('protocol_error', () => socket.destroy());
  amqp.on('error', () => socket.destroy());
  socket.on('close', () => {
    // rhea hears of an end by the other side only, not of a destroyed socket.
    amqp.eof();
    onGone();
  });
}

/**
 * Serves one client until its connection ends.
 * @param socket a connection on which nothing was read yet
 */
export function serveConnection(service: Service, amqp: AmqpConnection, socket: Duplex): Peer {
  const gone = new AbortController();
  const flowListeners = new Set<() => void>();
  const { connectionIdleMs } = service.limits;
  const holds = createLinkHolds(connectionIdleMs, () => {
    // Before both sides have opened there is nothing to close by the rules.
    if (amqp.is_open()) amqp.close(errors.connectionIdle(connectionIdleMs));
    else socket.destroy();
  });
  const peer: Peer = {
    service,
    amqp,
    claims: createClaims(service.clock),
    gone: gone.signal,
    drop: () => void socket.destroy(),
    close: (error) => amqp.close(error),
    hold: holds.hold,
    onFlow(listener) {
      flowListeners.add(listener);
      return () => flowListeners.delete(listener);
    },
  };
  padFrames(amqp);
  separateLinkNames(amqp);
  rawTransfers(amqp);
  afterFlow(amqp, () => {
    for (const listener of flowListeners) listener();
  });
  routeLinks(peer, holds);
  service.counters.connectionsAccepted += 1;
  watchEnd(amqp, socket, () => {
    gone.abort();
    holds[Symbol.dispose]();
  });
  amqp.accept(socket);
  return peer;
}
