// One client's connection: which link goes to which node, and when it is idle.
import type { Duplex } from 'node:stream';
import { parseAddress } from './address.ts';
import {
  type AmqpConnection,
  type AmqpLink,
  type AmqpReceiver,
  type AmqpSender,
  afterFlow,
  rawTransfers,
  refuseLink,
} from './amqp.ts';
import { serveCbs } from './cbs.ts';
import { createClaims } from './claims.ts';
import * as errors from './errors.ts';
import { padFrames } from './frame-padding.ts';
import { serveManagement } from './management.ts';
import { servePublisher } from './publish-link.ts';
import { serveReader } from './read-link.ts';
import type { Peer, Service } from './service.ts';

interface Holds {
  hold(link: AmqpLink, onEnd: () => void): void;
  release(link: AmqpLink): void;
  releaseWhere(matches: (link: AmqpLink) => boolean): void;
}

/** Links that keep a connection busy. @param onIdle runs when there was none for `idleMs` */
function createHolds(idleMs: number, onIdle: () => void): Holds & Disposable {
  const held = new Map<AmqpLink, () => void>();
  let idle: NodeJS.Timeout | undefined = setTimeout(onIdle, idleMs);
  const release = (link: AmqpLink): void => {
    const onEnd = held.get(link);
    if (onEnd === undefined) return;
    held.delete(link);
    onEnd();
    if (held.size === 0) idle = setTimeout(onIdle, idleMs);
  };
  const releaseWhere = (matches: (link: AmqpLink) => boolean): void => {
    for (const link of [...held.keys()]) if (matches(link)) release(link);
  };
  return {
    hold(link, onEnd) {
      clearTimeout(idle);
      held.set(link, onEnd);
    },
    release,
    releaseWhere,
    [Symbol.dispose]() {
      releaseWhere(() => true);
      clearTimeout(idle);
    },
  };
}

/** A client that sends: the emulator receives. */
function acceptSender(peer: Peer, link: AmqpReceiver): void {
  const address = parseAddress(link.target?.address ?? '');
  if (address.kind === 'cbs') return serveCbs(peer, link);
  if (address.kind === 'management') return serveManagement(peer, link, address.hub);
  if (address.kind === 'publish') return servePublisher(peer, link, address);
  refuseLink(link, errors.notFound(link.target?.address ?? ''));
}

/** A client that receives: the emulator sends. */
function acceptReceiver(peer: Peer, link: AmqpSender): void {
  const asked = link.source?.address ?? '';
  const address = parseAddress(asked);
  if (address.kind === 'read') return serveReader(peer, link, address);
  if (address.kind !== 'cbs' && address.kind !== 'management')
    return refuseLink(link, errors.notFound(asked));
  link.set_source({ address: asked });
  link.set_target({ address: link.target?.address ?? '' });
}

function routeLinks(peer: Peer, holds: Holds): void {
  const { amqp } = peer;
  amqp.on('receiver_open', ({ receiver }) => receiver && acceptSender(peer, receiver));
  amqp.on('sender_open', ({ sender }) => sender && acceptReceiver(peer, sender));
  amqp.on('receiver_close', ({ receiver }) => receiver && holds.release(receiver));
  amqp.on('sender_close', ({ sender }) => sender && holds.release(sender));
  amqp.on('session_close', ({ session }) => holds.releaseWhere((link) => link.session === session));
}

/** Runs `onGone` once, however the connection ends. */
function watchEnd(amqp: AmqpConnection, socket: Duplex, onGone: () => void): void {
  let isGone = false;
  amqp.on('disconnected', () => {
    isGone = true;
    onGone();
  });
  amqp.on('connection_close', () => undefined);
  amqp.on('protocol_error', () => socket.destroy());
  amqp.on('error', () => socket.destroy());
  // rhea hears of an end by the other side only, not of a destroyed socket.
  socket.on('close', () => isGone || amqp.eof());
}

/**
 * Serves one client until its connection ends.
 * @param socket a connection on which nothing was read yet
 */
export function serveConnection(service: Service, amqp: AmqpConnection, socket: Duplex): Peer {
  const gone = new AbortController();
  const flowListeners = new Set<() => void>();
  const { connectionIdleMs } = service.limits;
  const holds = createHolds(connectionIdleMs, () => amqp.close(errors.connectionIdle(connectionIdleMs)));
  const peer: Peer = {
    service,
    amqp,
    claims: createClaims(service.clock),
    gone: gone.signal,
    drop: () => void socket.destroy(),
    close: (error) => amqp.close(error),
    hold: holds.hold,
    release: holds.release,
    onFlow(listener) {
      flowListeners.add(listener);
      return () => flowListeners.delete(listener);
    },
  };
  padFrames(amqp);
  rawTransfers(amqp);
  afterFlow(amqp, () => {
    for (const listener of flowListeners) listener();
  });
  routeLinks(peer, holds);
  service.counters.connections += 1;
  service.counters.connectionsAccepted += 1;
  watchEnd(amqp, socket, () => {
    if (gone.signal.aborted) return;
    gone.abort();
    holds[Symbol.dispose]();
    service.counters.connections -= 1;
  });
  amqp.accept(socket);
  return peer;
}
