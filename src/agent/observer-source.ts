// Knows which VM this is: asked of instance metadata at start and again with every heartbeat.
import { type Observer, unknownObserver } from '../core/observer.ts';
import type { Outbox } from '../delivery/outbox/outbox.ts';
import type { Log } from '../log.ts';
import type { ImdsClient } from './imds.ts';

export interface ObserverSource {
  /** What is known now; every field null before the first answer. */
  current(): Observer;
  /** Resolves when the observer is known, after `ms`, or when the agent stops: whichever is first. */
  known(ms: number): Promise<void>;
  /** Asks again, and returns when the answer is there or the agent stops. Never throws. */
  refresh(): Promise<void>;
}

export interface ObserverSourceOptions {
  readonly imds: ImdsClient;
  readonly outbox: Outbox;
  readonly bootId: string;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Starts with what an earlier run learned in this same boot: a disk that was cloned onto another VM has another
 * boot, so a record is never stamped with a stranger's name.
 */
export function openObserverSource(options: ObserverSourceOptions): ObserverSource {
  const { imds, outbox, bootId, log, signal } = options;
  const remembered = recall(outbox.recall('observer'), bootId);
  let observer = remembered ?? unknownObserver;
  const first = Promise.withResolvers<void>();
  if (remembered !== null) first.resolve();
  let asking: Promise<void> | null = null;
  const learn = async (): Promise<void> => {
    const learned = await imds.observer(signal).catch(() => null);
    if (learned === null) return;
    if (JSON.stringify(learned) !== JSON.stringify(observer)) {
      if (learned.vmId !== null) outbox.adopt(learned.vmId);
      outbox.remember('observer', JSON.stringify({ bootId, observer: learned }));
      log.info({ vmName: learned.vmName, vmId: learned.vmId }, 'this VM is known');
    }
    observer = learned;
    first.resolve();
  };
  return {
    current: () => observer,
    async known(ms) {
      const timer = Promise.withResolvers<void>();
      const giveUp = (): void => timer.resolve();
      const handle = setTimeout(giveUp, signal.aborted ? 0 : ms);
      signal.addEventListener('abort', giveUp);
      await Promise.race([first.promise, timer.promise]);
      clearTimeout(handle);
      signal.removeEventListener('abort', giveUp);
    },
    // Never two questions at once: together they would hold up a poll.
    refresh: () => {
      asking ??= learn().finally(() => {
        asking = null;
      });
      return asking;
    },
  };
}

function recall(value: string | null, bootId: string): Observer | null {
  if (value === null) return null;
  const remembered = JSON.parse(value) as { bootId: string; observer: Observer };
  return remembered.bootId === bootId ? remembered.observer : null;
}
