// What the consumer tells the service manager: whether its loops go on, and one line for `systemctl status`.
import type { ServiceReport } from '../service-notify.ts';
import { isRefusal } from './hub-fault.ts';
import { failingAnchors, isUnsealed } from './keeping-readiness.ts';
import { healthOf, stuckPartitions } from './readiness.ts';
import type { Standing } from './standing.ts';

/** The line changes when something does, not with the time. @param lateMs of the latest step */
export function serviceReport(
  { hub, trailFault, sharing, keeping, partitions }: Standing,
  lateMs: number,
): ServiceReport {
  const { healthy } = healthOf(lateMs);
  const stuck = stuckPartitions(partitions);
  const refused = Object.entries(partitions).flatMap(([id, { fault }]) => (isRefusal(fault) ? [id] : []));
  const lag = Object.values(partitions).reduce((sum, { lagEvents }) => sum + (lagEvents ?? 0), 0);
  const words = [
    healthy ? hubWords(hub, sharing) : 'the reading of the hub is stuck',
    ...(trailFault === null ? [] : [`not ready, the trail takes nothing (${trailFault})`]),
    ...(stuck.length === 0 ? [] : [`not ready, nothing comes of partition ${stuck.join(', ')}`]),
    ...(refused.length === 0
      ? []
      : [`not ready, the hub has another history of partition ${refused.join(', ')}`]),
    ...(sharing === null || sharing.fault === null ? [] : [`who reads what is unknown (${sharing.fault})`]),
    ...keepingWords(keeping),
    ...(lag === 0 ? [] : [`${lag} ${lag === 1 ? 'event' : 'events'} behind`]),
  ];
  return { alive: healthy, status: words.join('; ') };
}

function keepingWords(keeping: Standing['keeping']): string[] {
  const failing = failingAnchors(keeping);
  return [
    ...(isUnsealed(keeping) ? ['not ready, nothing is sealed'] : []),
    ...(failing.length === 0 ? [] : [`no head of the trail is taken by ${failing.join(', ')}`]),
    ...(keeping.archive?.state === 'failing' ? ['the copy of the trail does not go on'] : []),
  ];
}

function hubWords(
  { state, detail, since, description }: Standing['hub'],
  sharing: Standing['sharing'],
): string {
  const name = description?.name ?? 'the hub';
  const count = description?.partitions.length ?? 0;
  if (state === 'reading' && sharing !== null)
    return `reading ${name}, ${sharing.here} of ${count} partitions`;
  if (state === 'reading') return `reading ${name}, ${count} ${count === 1 ? 'partition' : 'partitions'}`;
  if (state === 'opening') return `connecting to ${name}`;
  return `${name} is not read since ${new Date(since).toISOString()} (${detail})`;
}
