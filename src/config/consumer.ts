// Every setting of the consumer, declared once: schema, type, default, docs and help.
import * as z from 'zod';
import { logSettings } from './agent.ts';
import { notifyPassedOver } from './consumer-notify.ts';
import { anchors, archive, checkpoints, signing, trail } from './consumer-trail.ts';
import { listenAddress } from './listen.ts';
import { type NamedHub, type NamedSinks, refuseOwnHub } from './own-hub.ts';
import { secret } from './secret.ts';

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

const status = z
  .strictObject({
    listen: listenAddress('127.0.0.1:9465').describe(
      'Address of `/healthz`, `/readyz` and `/metrics`: `host:port`, or a port of this machine alone; port 0 takes a free one. Whoever reaches it can read it: anything but loopback is for a network that you trust, or for a pod.',
    ),
  })
  .optional()
  .describe('The status page for probes and Prometheus. Without this setting nothing listens.');

/**
 * The schema of `consumer.yaml`.
 * @param notify the schema of `notify`: the sinks declare their own settings
 */
export const consumerSchemaWith = <Notify extends z.ZodType>(notify: Notify) =>
  z
    .strictObject({ hub, checkpoints, trail, signing, anchors, archive, notify, status, log: logSettings })
    .refine(({ checkpoints, trail }) => checkpoints.type === 'trail' || trail.type === 'postgres', {
      path: ['checkpoints', 'type'],
      error: 'Several consumers need a trail that they can share: give trail type postgres as well',
    })
    .refine(({ anchors, signing }) => anchors.length === 0 || signing !== undefined, {
      path: ['anchors'],
      error: 'Anchors need signing: give signing.keyFile as well',
    })
    // What a sink is made of is not known here; of those that name a hub, how they do is.
    .superRefine((settings, context) => refuseOwnHub(settings as WithSinks, context));

interface WithSinks {
  readonly hub: NamedHub;
  readonly notify?: { readonly sinks: NamedSinks };
}

/** The same for whoever sends no notices: what `notify` says is passed over, and not judged. */
export const consumerSchema = consumerSchemaWith(notifyPassedOver);
