// What a record says of every VM that its event names, as schemas: where a consumer speaks for the whole fleet.
import * as z from 'zod';
import type { FleetVm, MissingVm } from './fleet-fact.ts';
import type { FleetPart } from './fleet-record.ts';

const textOrNull = z.string().nullable();

const fleetVm = z.looseObject({
  name: z.string().describe('As the event spells it.'),
  vmId: textOrNull,
  resourceId: textOrNull,
  location: textOrNull,
  zone: textOrNull,
  faultDomain: textOrNull,
  vmScaleSet: textOrNull,
  placementGroupId: textOrNull,
}) satisfies z.ZodType<FleetVm>;

/** VMs that should have told of an event and did not. */
export const missingVmsSchema = z
  .array(z.looseObject({ name: z.string(), reason: z.string() }) satisfies z.ZodType<MissingVm>)
  .describe('VMs that should have told of it and did not, and why, as far as that is known.');

/** What a record about an event says when it speaks for the whole fleet. */
export const fleetPartSchema = z.looseObject({
  vms: z.array(fleetVm).describe('Every VM that the event names; null is what nobody said of it.'),
  observers: z.int().min(0).describe('How many VMs had told the fact when this was said.'),
  missing: missingVmsSchema,
  firstWitness: z.string().describe('The `source` of the record that this one repeats.'),
}) satisfies z.ZodType<FleetPart>;
