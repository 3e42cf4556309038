// How an event stands among the others of its set: windows that overlap, and runs that go from one fault domain to the next.
import { canonicalName } from './document.ts';
import { groupOf } from './observation-gaps.ts';
import { type Figure, figure, unknownFigure } from './timeline-figure.ts';
import { othersMax, type TimelineEvent, type TimelineParts } from './timeline-parts.ts';

/** Another event of the set that was under way at the same time, on other fault domains. */
export interface Overlap {
  readonly eventId: string;
  readonly faultDomains: readonly string[];
  readonly seconds: number;
}

/** The events of other fault domains between which this one stands. */
export interface SerialisedRun {
  readonly previous: string | null;
  readonly next: string | null;
}

export interface WaveFigures {
  readonly faultDomainOverlap: Figure<readonly Overlap[]>;
  readonly serialisedRun: Figure<SerialisedRun>;
}

interface Placed {
  readonly event: TimelineEvent;
  readonly domains: ReadonlySet<string>;
}

const noDomains = 'the fault domains of its VMs are not known';

/** @param now epoch ms: until then lasts what has no end yet */
export function waveFigures(parts: TimelineParts, now: number): WaveFigures {
  const domainOf = new Map(
    groupOf(parts).members.flatMap(({ latest: { vmName, faultDomain } }) =>
      vmName === null || faultDomain === null ? [] : [[canonicalName(vmName), faultDomain] as const],
    ),
  );
  const place = (event: TimelineEvent): Placed => ({
    event,
    domains: new Set(event.vms.flatMap((name) => domainOf.get(canonicalName(name)) ?? [])),
  });
  const own = place(parts.event);
  if (own.domains.size === 0) {
    return { faultDomainOverlap: unknownFigure(noDomains), serialisedRun: unknownFigure(noDomains) };
  }
  const others = parts.others.map(place).filter((other) => isElsewhere(other, own));
  const isWhole = parts.others.length < othersMax;
  return {
    faultDomainOverlap: overlaps(own, others, isWhole, now),
    serialisedRun: run(own, others, isWhole),
  };
}

/** Whether it is about other fault domains of the set, and only about them. */
const isElsewhere = (other: Placed, own: Placed): boolean =>
  other.domains.size > 0 && [...other.domains].every((domain) => !own.domains.has(domain));

const tooMany = 'there were so many events in these hours that only the first were looked at';

function overlaps(
  { event }: Placed,
  others: readonly Placed[],
  isWhole: boolean,
  now: number,
): Figure<readonly Overlap[]> {
  if (event.startedAt === null) return unknownFigure('nobody saw it start');
  const [from, to] = [event.startedAt, event.endedAt ?? now];
  const found = others.flatMap(({ event: other, domains }) => {
    if (other.startedAt === null) return [];
    const ms = Math.min(to, other.endedAt ?? now) - Math.max(from, other.startedAt);
    const seconds = Math.round(ms / 1_000);
    return ms <= 0 ? [] : [{ eventId: other.eventId, faultDomains: [...domains].sort(), seconds }];
  });
  return isWhole ? figure(found, 'measured') : figure(found, 'estimated', tooMany);
}

const pauseMsMax = 30 * 60_000;

/** The nearest event on either side that is not more than half an hour away. */
function run({ event }: Placed, others: readonly Placed[], isWhole: boolean): Figure<SerialisedRun> {
  const end = event.endedAt;
  const gaps = others.map(({ event: other }) => ({
    eventId: other.eventId,
    before: other.endedAt === null ? Number.NaN : event.firstSeenAt - other.endedAt,
    after: end === null ? Number.NaN : other.firstSeenAt - end,
  }));
  const nearest = (side: 'before' | 'after'): string | null =>
    gaps
      .filter((gap) => gap[side] >= 0 && gap[side] <= pauseMsMax)
      .sort((one, other) => one[side] - other[side])[0]?.eventId ?? null;
  const value = { previous: nearest('before'), next: nearest('after') };
  return isWhole ? figure(value, 'measured') : figure(value, 'estimated', tooMany);
}
