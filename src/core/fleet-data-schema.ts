// What `data` of the records is that a consumer says of the whole fleet, as schemas: published for receivers.
import * as z from 'zod';
import { envelopeSchema } from './envelope-schema.ts';
import { agentStampSchema, eventDataSchema, observerSchema, timeSchema } from './event-data-schema.ts';
import { fleetPartSchema, missingVmsSchema } from './fleet-part-schema.ts';
import type { SilenceData, WaveData } from './fleet-record.ts';
import type { WaveScope } from './wave-scope.ts';

const textOrNull = z.string().nullable();
const timeOrNull = timeSchema.nullable();
const count = z.int().min(0);

const speaker = {
  observer: observerSchema.describe('Null throughout: no single VM speaks.'),
  agent: agentStampSchema.describe('The consumer that speaks.'),
};

const state = z
  .enum(['started', 'scheduled', 'completed', 'canceled'])
  .describe('By the event that asks most of a person: what is under way goes before what is to come.');

const scope = z
  .looseObject({
    vmScaleSet: textOrNull,
    placementGroupId: textOrNull,
    subscriptionId: textOrNull,
    resourceGroup: textOrNull,
    location: textOrNull,
  })
  .nullable()
  .describe('What its VMs share; null when nothing is known of them.') satisfies z.ZodType<WaveScope | null>;

const waveVm = z.looseObject({
  name: z.string(),
  vmId: textOrNull,
  faultDomain: textOrNull,
  state,
});

const waveEvent = z.looseObject({
  eventId: z.string(),
  state,
  outcome: z
    .enum(['completed', 'canceled', 'missed-start'])
    .nullable()
    .describe(
      'How it ended; `missed-start`: it most likely ran, and nobody saw it start. Null while it is open.',
    ),
  inferred: z.boolean().describe('Azure did not say how it ended.'),
  notBefore: timeOrNull,
  durationSeconds: z.number().min(0).nullable(),
  startedAt: timeOrNull,
  endedAt: timeOrNull,
  vms: z.array(z.string()).describe('Names of VMs.'),
  faultDomains: z.array(z.string()),
});

const waveView = z
  .looseObject({
    id: z.string().min(1),
    version: count.describe('Rises with each change: the highest one is how the wave stands.'),
    state,
    eventType: textOrNull,
    eventSource: textOrNull,
    scope,
    durationSeconds: z
      .number()
      .min(0)
      .nullable()
      .describe('The longest that any of its open events is said to take.'),
    firstSeenAt: timeSchema,
    lastSeenAt: timeSchema,
    startedAt: timeOrNull,
    endedAt: timeOrNull.describe('When the last of its events ended; null while one is open.'),
    nextNotBefore: timeOrNull.describe('The earliest start that is still to come; null when there is none.'),
    counts: z
      .looseObject({ started: count, scheduled: count, completed: count, canceled: count })
      .describe('How many VMs are in each state.'),
    vms: z.array(waveVm),
    events: z.array(waveEvent).describe('In the order in which they came.'),
    missing: missingVmsSchema,
    news: z
      .array(z.string())
      .describe('What has been worth a word of its own so far, the latest last: names that stay the same.'),
  })
  .describe('Events of one kind at one place, close in time: how they stand together.');

const alone = envelopeSchema
  .extend({ data: eventDataSchema.extend({ fleet: fleetPartSchema }) })
  .nullable()
  .describe('The latest record about its event, while there is one alone; null afterwards.');

const wave = z
  .looseObject({ wave: waveView, alone, ...speaker })
  .describe('How a wave of maintenance stands.') satisfies z.ZodType<WaveData>;

const silentVm = z.looseObject({
  name: z.string(),
  vmId: textOrNull,
  since: timeOrNull.describe('When it was last heard, or last awake; null when never.'),
  expectedBy: timeOrNull.describe('When it should have been heard; null where nothing was expected.'),
});

const silence = z
  .looseObject({
    state: z
      .enum(['silent', 'heard', 'asleep', 'awake'])
      .describe(
        '`silent`: their agents are not heard. `asleep`: the agents are, and their metadata service says nothing. `heard`, `awake`: that is over.',
      ),
    vms: z.array(silentVm).describe('VMs whose voices changed alike.'),
    ...speaker,
  })
  .describe('VMs fell silent, or are heard again.') satisfies z.ZodType<SilenceData>;

/** `data` of each record that a consumer says of the whole fleet, by the last word of its type. */
export const fleetDataSchemas = { wave, silence } as const;
