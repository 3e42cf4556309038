// What `data` of an event record is, as a schema: published for receivers, and never needed to make a record.
import * as z from 'zod';
import type { PreviousValues } from './diff.ts';
import type { ScheduledEvent } from './document.ts';
import { fleetPartSchema } from './fleet-part-schema.ts';
import type { Observer } from './observer.ts';
import type { AgentStamp, EventData } from './record.ts';
import type { Timeline } from './watch.ts';

/** A time as every record writes it. */
export const timeSchema = z.string().meta({ format: 'date-time' });

const text = z.string();
const textOrNull = z.string().nullable();

/** The VM whose agent speaks. */
export const observerSchema = z
  .looseObject({
    vmId: textOrNull.describe('The unique id of the VM, in lower case.'),
    vmName: textOrNull.describe('The name by which `resources` of an event would name the VM.'),
    resourceId: textOrNull.describe('The id of the VM in Azure Resource Manager.'),
    subscriptionId: textOrNull,
    resourceGroup: textOrNull,
    location: textOrNull.describe('The Azure region.'),
    zone: textOrNull.describe('The availability zone.'),
    vmScaleSet: textOrNull.describe('The name of the scale set.'),
    placementGroupId: textOrNull,
    faultDomain: textOrNull,
    updateDomain: textOrNull,
    vmSize: textOrNull,
    computerName: textOrNull.describe('The host name inside the VM.'),
  })
  .describe(
    'The VM whose agent saw it, by its instance metadata; null is what Azure did not say.',
  ) satisfies z.ZodType<Observer>;

/** The installation of the agent that speaks. */
export const agentStampSchema = z
  .looseObject({
    version: text.describe('The version of the agent.'),
    instanceId: text.min(1).describe('The installation: one outbox, through all its restarts.'),
    sequence: z
      .int()
      .min(0)
      .describe('Counts the records of the installation without a hole, so that a hole proves a loss.'),
  })
  .describe('The agent that speaks.') satisfies z.ZodType<AgentStamp>;

const eventShape = {
  eventType: text.describe(
    'Such as Freeze, Reboot, Redeploy, Preempt or Terminate; others pass as they came.',
  ),
  eventStatus: text.describe('Scheduled or Started; others pass as they came.'),
  eventSource: textOrNull.describe('Platform or User; null before API version 2019-08-01.'),
  resourceType: textOrNull,
  resources: z.array(text).describe('The names of the VMs that the event is about.'),
  notBefore: timeSchema
    .nullable()
    .describe('The earliest start, as last known: Azure blanks it once the event has begun.'),
  notBeforeText: text
    .exactOptional()
    .describe('What Azure wrote instead of a time, where it could not be read.'),
  description: textOrNull.describe('Azure’s own words.'),
  durationSeconds: z
    .number()
    .min(0)
    .nullable()
    .describe('How long the VM is expected to be affected; null when Azure does not know.'),
};

/** A scheduled event, in whatever record it stands. */
export const eventSchema = z
  .looseObject({
    eventId: text.min(1).describe('As Azure spells it; compare without regard to case.'),
    ...eventShape,
  })
  .describe('The event, as the document had it.') satisfies z.ZodType<ScheduledEvent>;

const previousSchema = z
  .looseObject({
    eventType: eventShape.eventType.exactOptional(),
    eventStatus: eventShape.eventStatus.exactOptional(),
    eventSource: eventShape.eventSource.exactOptional(),
    resourceType: eventShape.resourceType.exactOptional(),
    resources: eventShape.resources.exactOptional(),
    notBefore: timeSchema.nullable().exactOptional(),
    description: eventShape.description.exactOptional(),
    durationSeconds: eventShape.durationSeconds.exactOptional(),
  })
  .describe(
    'What changed while the event went on, with the values it had before.',
  ) satisfies z.ZodType<PreviousValues>;

const seenAt = timeSchema.exactOptional();

const timelineSchema = z
  .looseObject({ scheduled: seenAt, updated: seenAt, started: seenAt, completed: seenAt, canceled: seenAt })
  .describe(
    'When this agent first saw each phase, and when it last saw an update.',
  ) satisfies z.ZodType<Timeline>;

/** `data` of an event record. */
export const eventDataSchema = z.looseObject({
  transition: z
    .enum(['scheduled', 'updated', 'started', 'completed', 'canceled'])
    .describe('What happened to the event.'),
  inferred: z.boolean().describe('Azure did not say so: the bridge concludes it from an absence.'),
  reason: z
    .enum(['status', 'removed-after-started', 'removed-before-not-before', 'start-not-observed'])
    .describe(
      'Why the bridge says so: `status` when Azure said it, otherwise what an absence was taken for.',
    ),
  affected: z
    .boolean()
    .nullable()
    .describe('Whether the event names the observer; null while the observer’s own name is not known.'),
  initial: z
    .boolean()
    .describe('The agent began with the event already in the document: its onset is unknown.'),
  event: eventSchema,
  previous: previousSchema,
  timeline: timelineSchema,
  noticeSeconds: z
    .int()
    .nullable()
    .describe('Seconds from first sight to `notBefore`, or to the start once it began; null when unknown.'),
  document: z
    .looseObject({ incarnation: textOrNull, apiVersion: text })
    .describe('The Scheduled Events document that said so.'),
  observer: observerSchema,
  clock: z
    .looseObject({
      bootId: text.describe('Changes with every boot of the VM.'),
      pollGapMs: z.number().min(0).nullable().describe('Time since the good document before this one.'),
    })
    .describe('How closely the observer was watching.'),
  agent: agentStampSchema,
  fleet: fleetPartSchema
    .exactOptional()
    .describe('Only where a consumer says the fact once for the whole fleet: every VM that it is about.'),
}) satisfies z.ZodType<EventData>;
