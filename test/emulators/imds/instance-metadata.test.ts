// What a VM is told about itself.
import { expect, it } from 'vitest';
import { observerFrom } from '../../../src/core/observer.ts';
import { startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
import { scaleSetVms } from '../../../src/emulators/imds/vm.ts';
import { fixtureText } from '../../support/documents.ts';
import { ask } from '../../support/imds-client.ts';

const instancePath = (apiVersion = '2021-02-01') => `/metadata/instance?api-version=${apiVersion}`;

it('tells each instance of a scale set who it is, and all of them which group they are in', async () => {
  await using emulator = await startImdsEmulator({ vms: scaleSetVms(12) });
  const observerOf = async (name: string) =>
    observerFrom(JSON.parse((await ask(emulator.endpointOf(name) + instancePath())).body));
  const [first, last] = [await observerOf('WestNO_0'), await observerOf('WestNO_11')];
  expect(last).toMatchObject({
    vmName: 'WestNO_11',
    vmScaleSet: 'WestNO',
    // The host number is in base 36.
    computerName: 'westno00000b',
    faultDomain: '2',
    updateDomain: '1',
    zone: null,
  });
  expect(last.resourceId).toMatch(/\/virtualMachineScaleSets\/WestNO\/virtualMachines\/11$/);
  expect(last.resourceId).toContain(
    `/subscriptions/${last.subscriptionId}/resourceGroups/${last.resourceGroup}/`,
  );
  expect(last.placementGroupId).toBe(first.placementGroupId);
  expect(last.vmId).not.toBe(first.vmId);
});

it('acts as the first VM without a prefix, and takes every field that a test gives', async () => {
  const vm = { name: 'Web-1', vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6', zone: '2', location: 'westus' };
  await using emulator = await startImdsEmulator({ vms: [vm, { name: 'web10' }] });
  const observer = observerFrom(JSON.parse((await ask(emulator.url + instancePath())).body));
  expect(observer).toMatchObject({
    vmName: 'Web-1',
    vmId: vm.vmId,
    zone: '2',
    location: 'westus',
    vmScaleSet: null,
  });
  expect(observer.resourceId).toMatch(/\/virtualMachines\/Web-1$/);
  expect(emulator.vms.map(({ name }) => name)).toEqual(['Web-1', 'web10']);
});

it('writes every primitive as text and has no field that Azure does not have', async () => {
  await using emulator = await startImdsEmulator();
  const { compute } = JSON.parse((await ask(emulator.url + instancePath('2021-11-15'))).body);
  const documented = Object.keys(JSON.parse(fixtureText('50-imds-instance-compute.json')).compute);
  expect(Object.keys(compute).filter((field) => !documented.includes(field))).toEqual([]);
  const primitives = Object.values(compute).filter((value) => typeof value !== 'object');
  expect(primitives.every((value) => typeof value === 'string')).toBe(true);
  expect(compute.zone).toBe('');
});

it('shows a version only the fields that it knew', async () => {
  await using emulator = await startImdsEmulator();
  const fieldsAt = async (apiVersion: string) =>
    Object.keys(JSON.parse((await ask(emulator.url + instancePath(apiVersion))).body).compute);
  expect(await fieldsAt('2017-04-02')).toEqual(
    expect.not.arrayContaining(['subscriptionId', 'zone', 'resourceId']),
  );
  expect(await fieldsAt('2017-12-01')).toEqual(expect.arrayContaining(['subscriptionId', 'zone']));
  expect(await fieldsAt('2017-12-01')).not.toContain('resourceId');
  expect(await fieldsAt('2019-03-11')).toContain('resourceId');
});

it('picks a part of the answer by path, and a single value only as text', async () => {
  await using emulator = await startImdsEmulator();
  const at = (path: string) => ask(`${emulator.url}/metadata/instance/${path}`);
  const name = await at('compute/name?api-version=2021-02-01&format=text');
  expect(name).toMatchObject({ status: 200, body: 'WestNO_0' });
  expect(name.headers['content-type']).toContain('text/plain');
  expect((await at('compute/name?api-version=2021-02-01')).status).toBe(400);
  expect(JSON.parse((await at('compute/osProfile?api-version=2021-02-01')).body)).toHaveProperty(
    'computerName',
  );
  expect((await at('compute/toString?api-version=2021-02-01&format=text')).status).toBe(404);
});
