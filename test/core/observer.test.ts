// What instance metadata says about a VM, and what it leaves open.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAffected, observerFrom, unknownObserver } from '../../src/core/observer.ts';
import { fixtureText } from '../support/documents.ts';

describe('the observer', () => {
  test('is read from the documented answer of instance metadata', () => {
    expect(observerFrom(JSON.parse(fixtureText('50-imds-instance-compute.json')))).toEqual({
      vmId: '02aab8a4-74ef-476e-8182-f6d2ba4166a6',
      vmName: 'examplevmname',
      resourceId:
        '/subscriptions/8d10da13-8125-4ba9-a717-bf7490507b3d/resourceGroups/macikgo-test-may-23/providers/Microsoft.Compute/virtualMachines/examplevmname',
      subscriptionId: '8d10da13-8125-4ba9-a717-bf7490507b3d',
      resourceGroup: 'macikgo-test-may-23',
      location: 'westus',
      zone: null,
      vmScaleSet: 'crpteste9vflji9',
      placementGroupId: 'f67c14ab-e92c-408c-ae2d-da15866ec79a',
      faultDomain: '36',
      updateDomain: '42',
      vmSize: 'Standard_A3',
      computerName: 'examplevmname',
    });
  });

  test('of a Flexible scale set has the last part of its id for a name', () => {
    const id = '/subscriptions/x/providers/Microsoft.Compute/virtualMachineScaleSets/flexible';
    const compute = { vmScaleSetName: '', virtualMachineScaleSet: { id } };
    expect(observerFrom({ compute }).vmScaleSet).toBe('flexible');
    expect(observerFrom({ compute: { virtualMachineScaleSet: { id: '/' } } }).vmScaleSet).toBeNull();
  });

  test('has its vmId in lower case, because Azure spells it in both', () => {
    expect(observerFrom({ compute: { vmId: '02AAB8A4' } }).vmId).toBe('02aab8a4');
  });

  test('has a zone where Azure gives it one', () => {
    expect(observerFrom({ compute: { zone: '2' } }).zone).toBe('2');
  });

  test('takes a number where a text was promised', () => {
    expect(observerFrom({ compute: { platformFaultDomain: 1 } }).faultDomain).toBe('1');
  });

  test('of which nothing is known is null in every field', () => {
    expect(Object.keys(unknownObserver)).toHaveLength(13);
    expect(new Set(Object.values(unknownObserver))).toEqual(new Set([null]));
    for (const wire of [null, undefined, 'compute', 7, [], {}, { compute: null }, { compute: 'x' }]) {
      expect(observerFrom(wire)).toEqual(unknownObserver);
    }
  });

  test('is read from any JSON without a throw', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (value, name) => {
        const wires = [
          value,
          { compute: value },
          { compute: { name, osProfile: value, virtualMachineScaleSet: { id: name } } },
        ];
        for (const wire of wires) {
          for (const text of Object.values(observerFrom(wire)))
            expect(text === null || text !== '').toBe(true);
        }
      }),
    );
  });

  test('is affected if the event names it, and nobody knows while it has no name', () => {
    const observer = observerFrom({ compute: { name: 'web1' } });
    expect(isAffected(['web2', 'WEB1'], observer)).toBe(true);
    expect(isAffected(['web10'], observer)).toBe(false);
    expect(isAffected(['web1'], unknownObserver)).toBeNull();
  });
});
