// Where the VMs of an event belong together: events of one place are told to a person in one message.
import { canonicalName } from './document.ts';
import type { FleetVm } from './fleet-fact.ts';

/** A place that VMs share; what is not known of it, or not part of it, is null. */
export interface WaveScope {
  readonly vmScaleSet: string | null;
  readonly placementGroupId: string | null;
  readonly subscriptionId: string | null;
  readonly resourceGroup: string | null;
  readonly location: string | null;
}

const nowhere: WaveScope = {
  vmScaleSet: null,
  placementGroupId: null,
  subscriptionId: null,
  resourceGroup: null,
  location: null,
};

const armId = /^\/subscriptions\/(?<subscription>[^/]+)(?:\/resourceGroups\/(?<group>[^/]+))?/i;

/**
 * The narrowest place known of any of the VMs: their scale set, else their placement group, else their resource group
 * in one region, else their subscription.
 * @param witness the resource id of whoever told of them: an event names VMs of its own resource group, by names that
 * are not unique beyond it
 * @returns null when nothing is known of them
 */
export function scopeOf(vms: readonly FleetVm[], witness: string | null): WaveScope | null {
  const scopes = vms.flatMap((vm) => scopesOf(vm, witness));
  const narrowest = Math.min(...scopes.map(({ width }) => width));
  const [first] = scopes
    .filter(({ width }) => width === narrowest)
    .map(({ scope }) => scope)
    .sort((one, other) => (scopeKey(one) < scopeKey(other) ? -1 : 1));
  return first ?? null;
}

/** The same text for the same place, however its parts are spelled. A set or group lies in one region, known or not. */
export function scopeKey({ location, ...place }: WaveScope): string {
  const region = place.vmScaleSet === null && place.placementGroupId === null ? location : null;
  return JSON.stringify(
    [...Object.values(place), region].map((part: string | null) => part?.toLowerCase() ?? null),
  );
}

interface SizedScope {
  /** The less, the narrower. */
  readonly width: number;
  readonly scope: WaveScope;
}

function scopesOf(vm: FleetVm, witness: string | null): readonly SizedScope[] {
  const { subscription = null, group = null } = armId.exec(vm.resourceId ?? witness ?? '')?.groups ?? {};
  const around = { subscriptionId: subscription, resourceGroup: group };
  const { vmScaleSet, placementGroupId, location } = vm;
  // Names of scale sets are unique within their resource group only; ids of placement groups are unique.
  if (vmScaleSet) return [{ width: 1, scope: { ...nowhere, ...around, vmScaleSet, location } }];
  if (placementGroupId) return [{ width: 2, scope: { ...nowhere, placementGroupId, location } }];
  if (group) return [{ width: 3, scope: { ...nowhere, ...around, location } }];
  return subscription ? [{ width: 4, scope: { ...nowhere, ...around, location } }] : [];
}

/** What a VM is known by within its place. */
export const vmKey = ({ name }: FleetVm): string => canonicalName(name);
