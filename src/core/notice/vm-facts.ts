// The lines of a notice that say which VM speaks and where it is.
import type { NoticeFact } from '../notice.ts';
import { portalUrlOf } from './portal.ts';
import type { ReportedVm } from './reported.ts';
import { utcText } from './time-text.ts';

type Facts = readonly NoticeFact[];

/** One line; none when there is nothing to say. */
export const factOf = (title: string, value: string | null): Facts =>
  value === null ? [] : [{ title, value }];

/** One line with a point in time; none when it is not known. @param at epoch ms */
export const timeFact = (title: string, at: number | null, mark = ''): Facts =>
  at === null ? [] : [{ title, value: `${utcText(at)}${mark}`, at }];

/** The VM that speaks, with its way to the portal. */
export function vmFact(title: string, { vmName, resourceId }: ReportedVm): Facts {
  if (vmName === null) return [];
  const link = portalUrlOf(resourceId);
  return [{ title, value: vmName, ...(link === null ? {} : { link }) }];
}

/** Where the VM is, and what kind of machine it is. */
export function placeFacts(vm: ReportedVm): Facts {
  const zone = vm.zone === null ? null : `zone ${vm.zone}`;
  return [
    ...factOf('Location', joined([vm.location, zone, vm.resourceGroup], ' / ')),
    ...factOf(
      'Machine',
      joined(
        [
          vm.vmSize,
          vm.vmScaleSet === null ? null : `scale set ${vm.vmScaleSet}`,
          vm.faultDomain === null ? null : `fault domain ${vm.faultDomain}`,
        ],
        ', ',
      ),
    ),
  ];
}

const joined = (parts: readonly (string | null)[], between: string): string | null =>
  parts.filter((part) => part !== null).join(between) || null;
