// Reads what a record of the whole fleet says of its VMs, for people: whatever a field holds, nothing throws.
import { child, numberAt, wordsAt } from './reported.ts';

/** A VM as a record of the fleet names it; what the record does not say is null. */
export interface ReportedFleetVm {
  readonly name: string;
  readonly resourceId: string | null;
  readonly location: string | null;
  readonly zone: string | null;
  readonly vmScaleSet: string | null;
  readonly faultDomain: string | null;
}

/** What an event record says when it speaks for the whole fleet. */
export interface ReportedFleet {
  readonly vms: readonly ReportedFleetVm[];
  readonly observers: number | null;
  /** Such as `web-3 (silent)`. */
  readonly missing: readonly string[];
}

const listMax = 5_000;

/** Null for a record that one VM sends. */
export function reportedFleet(data: unknown): ReportedFleet | null {
  const fleet = child(data, 'fleet');
  if (typeof fleet !== 'object' || fleet === null) return null;
  const vms = itemsOf(child(fleet, 'vms')).flatMap(vmOf);
  return { vms, observers: numberAt(fleet, 'observers'), missing: reportedMissing(child(fleet, 'missing')) };
}

/** VMs that did not tell, with the reason. */
export const reportedMissing = (missing: unknown): readonly string[] =>
  itemsOf(missing).flatMap((vm) => {
    const [name, reason] = [wordsAt(vm, 'name'), wordsAt(vm, 'reason')];
    if (name === null) return [];
    return [reason === null ? name : `${name} (${reason})`];
  });

/** The items of a list of bounded length; none for what is no list. */
export const itemsOf = (list: unknown): readonly unknown[] =>
  // A copy that has no holes, whatever the list has.
  Array.isArray(list) ? Array.from(list.slice(0, listMax)) : [];

function vmOf(vm: unknown): readonly ReportedFleetVm[] {
  const name = wordsAt(vm, 'name');
  if (name === null) return [];
  const resourceId = child(vm, 'resourceId');
  return [
    {
      name,
      resourceId: typeof resourceId === 'string' ? resourceId : null,
      location: wordsAt(vm, 'location'),
      zone: wordsAt(vm, 'zone'),
      vmScaleSet: wordsAt(vm, 'vmScaleSet'),
      faultDomain: wordsAt(vm, 'faultDomain'),
    },
  ];
}
