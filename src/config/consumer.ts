// Every setting of the consumer, declared once: schema, type, default, docs and help.
import * as z from 'zod';
import { logSettings } from './agent.ts';
import { listenAddress } from './listen.ts';
import { secret } from './secret.ts';

/** Where the trail is when nobody says otherwise. */
export const defaultTrailPath = '/var/lib/scheduled-events-bridge/trail.db';

const hub = z
  .strictObject({
    fullyQualifiedNamespace: z
      .string()
      .regex(/^[a-z0-9.-]+(:\d+)?$/i, 'Expected a host name such as ns.servicebus.windows.net')
      .optional()
      .describe(
        'Host name of the Event Hubs namespace, read with the identity of this machine (managed identity, workload identity or a developer’s login).',
      ),
    connectionString: secret()
      .optional()
      .describe('Connection string of the namespace or the hub, instead of an identity.'),
    eventHubName: z
      .string()
      .min(1)
      .max(260)
      .optional()
      .describe('Name of the hub; not needed when the connection string ends in `EntityPath`.'),
    clientId: z
      .string()
      .min(1)
      .optional()
      .describe('Client id of a user-assigned managed identity; the machine’s own identity when not given.'),
    transport: z
      .enum(['amqp', 'websockets'])
      .default('amqp')
      .describe('`amqp`: port 5671. `websockets`: port 443, for networks that let nothing but HTTPS out.'),
    proxy: secret()
      .optional()
      .describe(
        'Proxy for websockets, such as `http://USER:PASSWORD@HOST:PORT`; AMQP itself goes through none.',
      ),
    consumerGroup: z
      .string()
      .min(1)
      .max(50)
      .default('$Default')
      .describe('Consumer group that is read; at most five readers share one.'),
  })
  .refine(
    (settings) =>
      (settings.fullyQualifiedNamespace === undefined) !== (settings.connectionString === undefined),
    'Give either fullyQualifiedNamespace or connectionString',
  )
  .refine((settings) => settings.connectionString !== undefined || settings.eventHubName !== undefined, {
    path: ['eventHubName'],
    error: 'Must be given beside fullyQualifiedNamespace',
  })
  .refine(
    ({ transport, proxy }) => transport === 'websockets' || proxy === undefined,
    'AMQP goes through no proxy: give transport: websockets as well, or leave proxy out',
  )
  .describe('The hub that all agents send to.');

const checkpoints = z
  .strictObject({
    type: z
      .literal('trail')
      .default('trail')
      .describe('Where the position of each partition is kept: with the data, in the trail itself.'),
  })
  .prefault({})
  .describe('How far the hub has been read.');

const trail = z
  .strictObject({
    type: z.literal('sqlite').default('sqlite').describe('One SQLite file, written by one consumer.'),
    path: z.string().min(1).default(defaultTrailPath).describe('The file; it is made on the first start.'),
  })
  .prefault({})
  .describe('The audit trail of the whole fleet.');

const status = z
  .strictObject({
    listen: listenAddress('127.0.0.1:9465').describe(
      'Address of `/healthz`, `/readyz` and `/metrics`: `host:port`, or a port of this machine alone; port 0 takes a free one. Whoever reaches it can read it: anything but loopback is for a network that you trust, or for a pod.',
    ),
  })
  .optional()
  .describe('The status page for probes and Prometheus. Without this setting nothing listens.');

/** The schema of `consumer.yaml`. */
export const consumerSchema = z.strictObject({ hub, checkpoints, trail, status, log: logSettings });
