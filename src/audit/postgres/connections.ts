// What the driver is told of its connections, and the sockets they go over.
import { Socket } from 'node:net';
import type { CustomTypesConfig, PoolConfig } from 'pg';

// Short enough to follow a rotated password, a fail-over and a name that moved.
const connectionSecondsMax = 1_800;

/** @param connectMs how long a connection, or a free one, is waited for */
export const poolConfig = (connectionsMax: number, connectMs: number): PoolConfig => ({
  max: connectionsMax,
  connectionTimeoutMillis: connectMs,
  idleTimeoutMillis: 60_000,
  maxLifetimeSeconds: connectionSecondsMax,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  application_name: 'scheduled-events-bridge',
  types,
  pipeline: true,
});

const oid = { bool: 16, bytea: 17, int8: 20, int2: 21, int4: 23 } as const;

/** Numbers up to 2^53 as numbers, here only: elsewhere in the process the driver stays as it is. */
const types: CustomTypesConfig = {
  getTypeParser: ((id: number) =>
    parserOf[id] ?? ((value: string) => value)) as CustomTypesConfig['getTypeParser'],
};

const parserOf: Readonly<Record<number, (value: string) => unknown>> = {
  [oid.bool]: (value) => value === 't',
  [oid.bytea]: (value) => Buffer.from(value.slice(2), 'hex'),
  [oid.int8]: safeInteger,
  [oid.int2]: Number,
  [oid.int4]: Number,
};

function safeInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError('a number that is beyond 2^53');
  return number;
}

/** The sockets of a pool. */
export interface Sockets {
  readonly open: () => Socket;
  /** Waits until all are closed, and then no longer. */
  close(): Promise<void>;
}

const goodbyeMs = 2_000;

/**
 * The driver says goodbye and leaves the rest to the server: a connection to one that is silent would stay, and keep
 * the program from ending.
 */
export function openSockets(): Sockets {
  const sockets = new Set<Socket>();
  return {
    open: () => {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once('close', () => sockets.delete(socket));
    },
    close: async () => {
      const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, goodbyeMs);
      await Promise.all(closed);
      clearTimeout(timer);
    },
  };
}
