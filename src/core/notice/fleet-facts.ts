// The lines of a notice that speaks for the whole fleet: every VM that is named, where they are, and who did not tell.
import type { NoticeFact } from '../notice.ts';
import { countText, nameList } from './name-list.ts';
import { portalUrlOf } from './portal.ts';
import type { ReportedFleet, ReportedFleetVm } from './reported-fleet.ts';
import { factOf } from './vm-facts.ts';

type Facts = readonly NoticeFact[];

/** Every VM, with the way to the portal where there is one alone. */
export function fleetVmFacts({ vms }: ReportedFleet, resources: readonly string[]): Facts {
  const names = vms.length === 0 ? resources : vms.map(({ name }) => name);
  if (names.length === 0) return factOf('VM', 'Not named by Azure');
  if (names.length > 1) return listFact('VMs', names);
  const link = fleetPortalUrl(vms);
  return factOf('VM', names[0] ?? null).map((fact) => (link === null ? fact : { ...fact, link }));
}

/** The page of the one VM that is named; null when there are more. */
export const fleetPortalUrl = (vms: readonly ReportedFleetVm[]): string | null =>
  vms.length === 1 ? portalUrlOf(vms[0]?.resourceId ?? null) : null;

/** Where the VMs are, and how many told of the event. */
export function fleetPlaceFacts({ vms, observers, missing }: ReportedFleet): Facts {
  const all = (field: keyof ReportedFleetVm): readonly string[] =>
    [...new Set(vms.flatMap((vm) => vm[field] ?? []))].sort(byNumber);
  return [
    ...factOf('Location', placeText(all('location'))),
    ...factOf('Zone', placeText(all('zone'))),
    ...factOf('Scale set', placeText(all('vmScaleSet'))),
    ...factOf('Fault domain', placeText(all('faultDomain'))),
    ...factOf('Told by', observers === null ? null : countText(observers, 'VM')),
    ...missingFacts(missing),
  ];
}

/** Who should have told and did not. */
export const missingFacts = (missing: readonly string[]): Facts =>
  missing.length === 0 ? [] : listFact('Did not tell', missing);

/** A list that is shown whole as long as there is room. */
export const listFact = (title: string, names: readonly string[]): Facts => [
  { title, value: nameList(names, 'VMs'), long: true },
];

const placeText = (names: readonly string[]): string | null =>
  names.length === 0 ? null : nameList(names, 'others', placesLengthMax);

const placesLengthMax = 200;

const collator = new Intl.Collator('en', { numeric: true });
const byNumber = (one: string, other: string): number =>
  collator.compare(one, other) || (one < other ? -1 : 1);
