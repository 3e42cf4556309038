// What the consumer tells the service manager: whether its loops go on, and one line for `systemctl status`.
import type { ServiceReport } from '../service-notify.ts';
import { healthOf, stuckPartitions } from './readiness.ts';
import type { Standing } from './standing.ts';

/** The line changes when something does, not with the time. @param lateMs of the latest step */
export function serviceReport({ hub, trailFault, partitions }: Standing, lateMs: number): ServiceReport {
  const { healthy } = healthOf(lateMs);
  const stuck = stuckPartitions(partitions);
  const lag = Object.values(partitions).reduce((sum, { lagEvents }) => sum + (lagEvents ?? 0), 0);
  const words = [
    healthy ? hubWords(hub) : 'the reading of the hub is stuck',
    ...(trailFault === null ? [] : [`not ready, the trail takes nothing (${trailFault})`]),
    ...(stuck.length === 0 ? [] : [`not ready, nothing comes of partition ${stuck.join(', ')}`]),
    ...(lag === 0 ? [] : [`${lag} ${lag === 1 ? 'event' : 'events'} behind`]),
  ];
  return { alive: healthy, status: words.join('; ') };
}

function hubWords({ state, detail, since, description }: Standing['hub']): string {
  const name = description?.name ?? 'the hub';
  const count = description?.partitions.length ?? 0;
  if (state === 'reading') return `reading ${name}, ${count} ${count === 1 ? 'partition' : 'partitions'}`;
  if (state === 'opening') return `connecting to ${name}`;
  return `${name} is not read since ${new Date(since).toISOString()} (${detail})`;
}
