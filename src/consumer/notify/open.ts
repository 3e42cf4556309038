// Opens the notices, as the settings ask for them.
import { openTrailReader } from '../../audit/open.ts';
import type { TrailStore } from '../../audit/store.ts';
import { type Meters, silentMeters } from '../../delivery/meters.ts';
import type { ConsumerProgress, ConsumerRuntime } from '../consumer.ts';
import { hearsAll } from '../readiness.ts';
import type { ConsumerSettings } from '../settings.ts';
import type { Standing } from '../standing.ts';
import type { Notifier } from './notifier.ts';

export interface NoticesOptions extends Pick<ConsumerRuntime, 'clock' | 'log'> {
  readonly settings: ConsumerSettings;
  readonly trail: TrailStore;
  readonly instance: string;
  readonly tell: (news: ConsumerProgress) => void;
  readonly standing: () => Standing;
}

/** Null when they would go nowhere. Loaded only here: a consumer that sends none does not pay for them. */
export async function openNotices({
  settings,
  tell,
  standing,
  ...rest
}: NoticesOptions): Promise<Notifier | null> {
  const { notify } = settings;
  if (notify === undefined || Object.keys(notify.sinks).length === 0) return null;
  const { openNotifier } = await import('./notifier.ts');
  const meters: Meters = {
    ...silentMeters,
    attempt: (measured) => tell({ kind: 'notice-attempt', ...measured }),
    settled: (measured) => tell({ kind: 'notice-settled', ...measured }),
  };
  return openNotifier({
    ...{ ...rest, settings: notify, meters },
    openReader: () => openTrailReader(settings.trail),
    isHearing: () => hearsAll(standing()),
  });
}
