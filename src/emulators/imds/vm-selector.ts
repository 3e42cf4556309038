// Which VMs a step of a scenario means: all, so many of them, by place, by fault domain or by name.
import * as z from 'zod';
import type { EmulatedVm } from './vm.ts';

const advice = 'Expected all, first, a count, { index: 0 }, { faultDomain: 0 } or { name: NAME }';

const list = <Item extends z.ZodType>(item: Item) =>
  z.union([item, z.array(item).min(1, advice)], advice).transform((value) => [value].flat());
const place = z.int(advice).min(0, advice);

/** `all`, `first`, a count, `{ index: 1 }`, `{ faultDomain: 0 }` or `{ name: web1 }`, with lists of them. */
export const vmSelector = z.union(
  [
    z.literal('all'),
    z.literal('first'),
    z.int(advice).min(1, advice),
    z.strictObject({ index: list(place) }),
    z.strictObject({ faultDomain: list(place) }),
    z.strictObject({ name: list(z.string(advice).min(1, advice)) }),
  ],
  advice,
);

export type VmSelector = z.output<typeof vmSelector>;

/** @returns the VMs that are meant, in the order of the fleet; none when the fleet has none of them */
export function selectVms(selector: VmSelector, vms: readonly EmulatedVm[]): readonly EmulatedVm[] {
  if (selector === 'all') return vms;
  if (selector === 'first') return vms.slice(0, 1);
  if (typeof selector === 'number') return vms.slice(0, selector);
  if ('index' in selector) return vms.filter((_, index) => selector.index.includes(index));
  if ('name' in selector) return vms.filter((vm) => selector.name.includes(vm.name));
  return vms.filter((vm) => selector.faultDomain.map(String).includes(vm.faultDomain));
}
