// What `data` of the records is that an agent sends about itself, as schemas: published for receivers.
import * as z from 'zod';
import { agentStampSchema, observerSchema, timeSchema } from './event-data-schema.ts';

const textOrNull = z.string().nullable();
const count = z.int().min(0);

const speaker = { observer: observerSchema, agent: agentStampSchema };

const outbox = z
  .looseObject({
    fault: textOrNull.describe('Why nothing can be written; null while all is well.'),
    setAside: textOrNull.describe('Where a damaged outbox was put aside in this run; null when none was.'),
    discarded: count.describe('Deliveries that gave way in this run because the outbox was full.'),
  })
  .describe('How the outbox is.');

const started = z
  .looseObject({
    cause: z
      .enum(['start', 'reload'])
      .optional()
      .describe('Whether the process began, or took up a changed configuration.'),
    apiVersion: z.string().describe('The version of the Scheduled Events document that is asked for.'),
    pollIntervalMs: count,
    heartbeatIntervalMs: count.describe('The longest time until the next heartbeat, while all is well.'),
    nodeVersion: z.string(),
    platform: z.string(),
    bootId: z.string().describe('Changes with every boot of the VM.'),
    sinks: z
      .array(z.looseObject({ name: z.string(), type: z.string() }))
      .describe('Where records go; no secrets, no addresses.'),
    outbox,
    ...speaker,
  })
  .describe('The agent began to watch.');

const source = z
  .looseObject({
    state: z.enum(['warming', 'fresh', 'silent', 'failing', 'refused']),
    detail: z.string().describe('Why, in a short phrase.'),
    since: timeSchema.nullable(),
    lastDocumentAt: timeSchema.nullable().describe('When the last good document of this run came.'),
  })
  .describe('Whether IMDS answers.');

const queue = z.looseObject({
  name: z.string(),
  pending: count.describe('Records that are not delivered yet.'),
  dead: count.describe('Records that were given up, and wait for a person.'),
  oldestPendingSeconds: z.int().nullable(),
  rest: z
    .looseObject({ state: z.string(), reason: z.string() })
    .nullable()
    .describe('Set while the sink is paused or suspended.'),
});

const seen = z.looseObject({
  eventId: z.string().describe('As IMDS spells it; its case says nothing.'),
  eventType: z.string(),
  eventStatus: z.string(),
  firstSeenAt: timeSchema.describe('When this agent first saw it.'),
});

const heartbeat = z
  .looseObject({
    uptimeSeconds: count,
    pollIntervalMs: count.optional(),
    heartbeatIntervalMs: count
      .optional()
      .describe('The longest time until the next heartbeat, while all is well.'),
    source,
    document: z
      .looseObject({
        incarnation: textOrNull,
        events: count.describe('Events that are under way.'),
        seen: z.array(seen).max(50).optional().describe('These events; the first 50, when there are more.'),
      })
      .describe('What IMDS said last.'),
    outbox,
    sinks: z.array(queue).nullable().describe('The queue of each sink; null when it could not be read.'),
    ...speaker,
  })
  .describe('The agent still watches.');

const test = z
  .looseObject({
    test: z.literal(true),
    sink: z.string().describe('The name of the sink that is tried out.'),
    ...speaker,
  })
  .describe('A person tries a sink out: nothing is scheduled.');

/** `data` of each record that an agent sends about itself, by the last word of its type. */
export const agentDataSchemas = { started, heartbeat, test } as const;
