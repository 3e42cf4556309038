// Every setting of the consumer, declared once: schema, type, default, docs and help.
import * as z from 'zod';
import { logSettings } from './agent.ts';
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

/** The schema of `consumer.yaml`. */
export const consumerSchema = z.strictObject({ hub, checkpoints, trail, log: logSettings });
