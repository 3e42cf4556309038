// Answers /metadata/instance: what a VM is told about itself, per api-version.
import {
  type Answer,
  errorAnswer,
  type ImdsRequest,
  jsonAnswer,
  notFound,
  versionUnknown,
} from './answer.ts';
import { instanceApiVersions, shows } from './api-version.ts';
import type { EmulatedVm } from './vm.ts';

const root = '/metadata/instance';

/** Whether the path is the endpoint's or leads into its answer. */
export const isInstancePath = (path: string): boolean => path === root || path.startsWith(`${root}/`);

/**
 * Answers a GET. A path below the root picks a part of the answer; a single value needs `format=text`.
 */
export function instanceMetadata({ path, query, vm }: ImdsRequest): Answer {
  const apiVersion = query.get('api-version') ?? '';
  if (!instanceApiVersions.includes(apiVersion)) return versionUnknown;
  const found = pick(metadataOf(vm, apiVersion), path.slice(root.length).split('/').filter(Boolean));
  if (found === undefined) return notFound;
  if (typeof found === 'object') return jsonAnswer(200, found);
  if (query.get('format') !== 'text')
    return errorAnswer(400, 'Bad request. A single value needs format=text');
  return { status: 200, body: String(found), headers: { 'Content-Type': 'text/plain; charset=utf-8' } };
}

function pick(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((part, key) => {
    const inside = typeof part === 'object' && part !== null && Object.hasOwn(part, key);
    return inside ? (part as Record<string, unknown>)[key] : undefined;
  }, value);
}

/** Every primitive is a string, and what is missing is `""`. */
function metadataOf(vm: EmulatedVm, apiVersion: string): object {
  const compute = Object.entries(computeOf(vm)).filter(([field]) =>
    shows(apiVersion, introducedIn[field] ?? ''),
  );
  return { compute: Object.fromEntries(compute), network: { interface: [networkInterface] } };
}

function computeOf(vm: EmulatedVm) {
  return {
    azEnvironment: 'AzurePublicCloud',
    evictionPolicy: '',
    location: vm.location,
    name: vm.name,
    offer: 'ubuntu-24_04-lts',
    osProfile: {
      adminUsername: 'azureuser',
      computerName: vm.computerName,
      disablePasswordAuthentication: 'true',
    },
    osType: 'Linux',
    placementGroupId: vm.placementGroupId,
    platformFaultDomain: vm.faultDomain,
    platformUpdateDomain: vm.updateDomain,
    priority: '',
    provider: 'Microsoft.Compute',
    publisher: 'canonical',
    resourceGroupName: vm.resourceGroupName,
    resourceId: vm.resourceId,
    sku: 'server',
    subscriptionId: vm.subscriptionId,
    tags: '',
    tagsList: [],
    version: '24.04.202610010',
    virtualMachineScaleSet: { id: '' },
    vmId: vm.vmId,
    vmScaleSetName: vm.vmScaleSetName,
    vmSize: vm.vmSize,
    zone: vm.zone,
  };
}

/** The table of Azure's instance metadata page; what is not named came with the first version. */
const introducedIn: Readonly<Record<string, string>> = {
  resourceGroupName: '2017-08-01',
  subscriptionId: '2017-08-01',
  placementGroupId: '2017-08-01',
  tags: '2017-08-01',
  vmScaleSetName: '2017-12-01',
  zone: '2017-12-01',
  azEnvironment: '2018-10-01',
  provider: '2018-10-01',
  resourceId: '2019-03-11',
  tagsList: '2019-06-04',
  osProfile: '2020-07-15',
  priority: '2020-12-01',
  evictionPolicy: '2020-12-01',
  virtualMachineScaleSet: '2021-03-01',
};

const networkInterface = {
  ipv4: {
    ipAddress: [{ privateIpAddress: '10.0.0.4', publicIpAddress: '' }],
    subnet: [{ address: '10.0.0.0', prefix: '24' }],
  },
  ipv6: { ipAddress: [] },
  macAddress: '0022480A1B2C',
};
