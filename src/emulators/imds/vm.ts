// The VMs that the emulator stands for: who they are, as instance metadata would tell them.
import { createHash } from 'node:crypto';

/** Everything the emulator knows of a VM, as text; what does not apply is `""`, as IMDS writes it. */
export interface EmulatedVm {
  readonly name: string;
  readonly vmId: string;
  readonly resourceId: string;
  readonly subscriptionId: string;
  readonly resourceGroupName: string;
  readonly location: string;
  readonly zone: string;
  readonly vmScaleSetName: string;
  readonly placementGroupId: string;
  readonly faultDomain: string;
  readonly updateDomain: string;
  readonly vmSize: string;
  readonly computerName: string;
}

/** A VM as its user describes it: the name, and whatever else shall differ from what is derived. */
export type VmDescription = Pick<EmulatedVm, 'name'> & Partial<EmulatedVm>;

const subscriptionId = '8d10da13-8125-4ba9-a717-bf7490507b3d';
const faultDomains = 3;
const updateDomains = 5;

/** Descriptions of the instances of one uniform scale set: `WestNO_0`, `WestNO_1`, ... */
export const scaleSetVms = (count: number, scaleSet = 'WestNO'): readonly VmDescription[] =>
  Array.from({ length: count }, (_, index) => ({ name: `${scaleSet}_${index}` }));

/**
 * Fills in what a description leaves open, the same on every run: ids are derived from the name. A name
 * such as `WestNO_3` is instance 3 of the uniform scale set WestNO, any other name a VM of its own.
 * @param index the VM's place in the fleet, which spreads VMs over fault and update domains
 */
export function completeVm(description: VmDescription, index: number): EmulatedVm {
  const { name } = description;
  const [, set = '', instance = ''] = /^(.+)_(\d+)$/.exec(name) ?? [];
  const group = `rg-${(set || name).toLowerCase()}`;
  const provider = `/subscriptions/${subscriptionId}/resourceGroups/${group}/providers/Microsoft.Compute`;
  const path =
    set === '' ? `virtualMachines/${name}` : `virtualMachineScaleSets/${set}/virtualMachines/${instance}`;
  return {
    vmId: guidOf(`vm ${name}`),
    resourceId: `${provider}/${path}`,
    subscriptionId,
    resourceGroupName: group,
    location: 'norwaywest',
    zone: '',
    vmScaleSetName: set,
    placementGroupId: set === '' ? '' : guidOf(`placement group ${set}`),
    faultDomain: String(index % faultDomains),
    updateDomain: String(index % updateDomains),
    vmSize: 'Standard_D4s_v5',
    // Azure numbers the hosts of a uniform set in base 36.
    computerName:
      set === ''
        ? name.toLowerCase()
        : `${set.toLowerCase()}${Number(instance).toString(36).padStart(6, '0')}`,
    ...description,
  };
}

/** A GUID, lower case, that is always the same for the same text. */
export function guidOf(text: string): string {
  const hex = createHash('sha256').update(text, 'utf8').digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
