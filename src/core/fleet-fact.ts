// What the whole fleet knows of one fact: the record of whoever told it first, every VM it is about, and who was missing.
import type { AgentStamp, BridgeRecord, EventData } from './record.ts';

/** A VM that an event names, with what is known of it; what nobody said is null. */
export interface FleetVm {
  /** As the event spells it, but for the underscore of api-version 2017-03-01. */
  readonly name: string;
  readonly vmId: string | null;
  readonly resourceId: string | null;
  readonly location: string | null;
  readonly zone: string | null;
  readonly faultDomain: string | null;
  readonly vmScaleSet: string | null;
  readonly placementGroupId: string | null;
}

/** A VM that should have told of a fact and did not, and why, as far as that is known. */
export interface MissingVm {
  readonly name: string;
  readonly reason: string;
}

/** One change of one event, as all that told of it know it by now. */
export interface FleetFact {
  /** Of the first witness. */
  readonly record: BridgeRecord<EventData>;
  /** Every VM that the event names. */
  readonly vms: readonly FleetVm[];
  /** How many have told it by now. */
  readonly observers: number;
  readonly missing?: readonly MissingVm[];
}

/** Who speaks for the fleet: a trail, and the program that keeps it. */
export interface Speaker {
  /** Such as `urn:uuid:…`: of the trail. */
  readonly source: string;
  readonly agent: AgentStamp;
}
