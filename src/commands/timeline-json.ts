// A timeline as JSON: the names of docs/timeline.md, with times in RFC 3339.
import type { ImpactDeed } from '../core/read-deed.ts';
import type { NamedVm, Timeline } from '../core/timeline.ts';
import type { Figure } from '../core/timeline-figure.ts';

/** What `seb timeline -o json` prints. */
export function timelineJson(timeline: Timeline): Readonly<Record<string, unknown>> {
  const { firstSeen, vms, story, approved, window, ...rest } = timeline;
  const { eventId, eventType, eventSource, description, notBefore, status, ...figures } = rest;
  return {
    schema: 'seb.timeline.v1',
    ...{ eventId, eventType, eventSource, description, notBefore, status },
    firstSeenAt: mapped(firstSeen, ({ at, by }) => ({ at: iso(at), by })),
    ...figures,
    approved: mapped(approved, ({ at, ...who }) => ({ at: isoOrNull(at), ...who })),
    window: mapped(window, ({ from, to, seconds }) => ({ from: iso(from), to: isoOrNull(to), seconds })),
    vms: vms.map(vmJson),
    story: story.map(({ at, ...line }) => ({ at: iso(at), ...line })),
  };
}

const iso = (at: number): string => new Date(at).toISOString();
const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));

const mapped = <Value>({ value, confidence, because }: Figure<Value>, map: (value: Value) => unknown) => ({
  ...{ value: value === null ? null : map(value), confidence, because },
});

const vmJson = ({ impact, ...vm }: NamedVm) => ({
  ...vm,
  impact: impact === null ? null : impactJson(impact),
});

const impactJson = ({ family: _family, from, to, ...impact }: ImpactDeed) => ({
  ...impact,
  ...{ from: isoOrNull(from), to: isoOrNull(to) },
});
