// What is known of the VMs of the fleet, by the names that events have for them.
import { canonicalName } from '../../core/document.ts';
import type { FleetVm } from '../../core/fleet-fact.ts';
import type { Observer } from '../../core/observer.ts';

export interface VmDirectory {
  /** Takes what an observer says of itself. */
  learn(observer: Partial<Observer>): void;
  /** The VM of this name that is where the witness is. */
  find(name: string, witness: Partial<Observer>): FleetVm;
}

// More VMs than one trail is made for; the one that was learned first is forgotten first.
const vmsMax = 50_000;

export function openVmDirectory(): VmDirectory {
  const vms = new Map<string, FleetVm>();
  return {
    learn: (observer) => {
      const { vmName } = observer;
      if (typeof vmName !== 'string') return;
      const key = keyOf(vmName, observer);
      vms.delete(key);
      vms.set(key, vmFrom(vmName, observer));
      const [oldest] = vms.keys();
      if (vms.size > vmsMax && oldest !== undefined) vms.delete(oldest);
    },
    find: (name, witness) => {
      const spelled = name.startsWith('_') ? name.slice(1) : name;
      const known = vms.get(keyOf(name, witness));
      return known === undefined ? neighbourOf(spelled, witness) : { ...known, name: spelled };
    },
  };
}

const armGroup = /^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+/i;

/** Names repeat from one resource group to the next; what an event names is in the witness's own. */
const keyOf = (name: string, { resourceId }: Partial<Observer>): string =>
  JSON.stringify([armGroup.exec(resourceId ?? '')?.[0] ?? null, canonicalName(name)]).toLowerCase();

const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const vmFrom = (name: string, observer: Partial<Observer>): FleetVm => ({
  name,
  vmId: text(observer.vmId),
  resourceId: text(observer.resourceId),
  location: text(observer.location),
  zone: text(observer.zone),
  faultDomain: text(observer.faultDomain),
  vmScaleSet: text(observer.vmScaleSet),
  placementGroupId: text(observer.placementGroupId),
});

/** A VM that never spoke: Azure tells of an event only where it is, in the same scale set and placement group. */
const neighbourOf = (
  name: string,
  { location, vmScaleSet, placementGroupId }: Partial<Observer>,
): FleetVm => ({
  ...vmFrom(name, {}),
  ...{ location: text(location), vmScaleSet: text(vmScaleSet), placementGroupId: text(placementGroupId) },
});
