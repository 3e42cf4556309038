// What instance metadata says about the VM that observes, read as tolerantly as the events.
import { names, textOf } from './document.ts';

/** The VM whose agent saw it. What Azure did not say is null. */
export interface Observer {
  readonly vmId: string | null;
  readonly vmName: string | null;
  readonly resourceId: string | null;
  readonly subscriptionId: string | null;
  readonly resourceGroup: string | null;
  readonly location: string | null;
  readonly zone: string | null;
  readonly vmScaleSet: string | null;
  readonly placementGroupId: string | null;
  readonly faultDomain: string | null;
  readonly updateDomain: string | null;
  readonly vmSize: string | null;
  readonly computerName: string | null;
}

/** An observer of which nothing is known yet: the agent watches all the same. */
export const unknownObserver: Observer = observerFrom({});

/**
 * Reads the answer of `/metadata/instance`, where every primitive is a string and missing is `""`.
 * @param wire the parsed body, whatever it is: what is not there is null
 */
export function observerFrom(wire: unknown): Observer {
  const compute = child(wire, 'compute');
  const text = (name: string): string | null => leaf(compute, name);
  const scaleSetId = leaf(child(compute, 'virtualMachineScaleSet'), 'id');
  return {
    vmId: text('vmId')?.toLowerCase() ?? null,
    vmName: text('name'),
    resourceId: text('resourceId'),
    subscriptionId: text('subscriptionId'),
    resourceGroup: text('resourceGroupName'),
    location: text('location'),
    zone: text('zone'),
    // Flexible sets give only the id of the set; Uniform sets give its name.
    vmScaleSet: text('vmScaleSetName') ?? (scaleSetId?.split('/').at(-1) || null),
    placementGroupId: text('placementGroupId'),
    faultDomain: text('platformFaultDomain'),
    updateDomain: text('platformUpdateDomain'),
    vmSize: text('vmSize'),
    computerName: leaf(child(compute, 'osProfile'), 'computerName'),
  };
}

/** Whether the event names this VM; null while the VM's own name is not known. */
export const isAffected = (resources: readonly string[], observer: Observer): boolean | null =>
  observer.vmName === null ? null : names(resources, observer.vmName);

function child(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function leaf(value: unknown, name: string): string | null {
  return textOf(child(value, name)) || null;
}
