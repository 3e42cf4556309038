// Holds the connection to a hub for as long as deliveries follow one another, and no longer: a fleet of
// 100,000 VMs cannot hold one each.
import type { Outcome } from '../../core/delivery.ts';
import type { Outcomes } from '../turns.ts';
import type { HubProducer } from './client.ts';

export interface HubConnection extends AsyncDisposable {
  /** Works with an open producer. Calls must not overlap. @throws what opening a producer throws */
  use(work: (producer: HubProducer) => Promise<Outcomes>): Promise<Outcomes>;
}

/** @param idleMs how long the connection stays open after its last use */
export function openHubConnection(open: () => Promise<HubProducer>, idleMs: number): HubConnection {
  let closing: Promise<void> = Promise.resolve();
  let producer: HubProducer | null = null;
  let idle: NodeJS.Timeout | undefined;

  const letGo = () => {
    clearTimeout(idle);
    if (producer !== null) closing = producer.close();
    producer = null;
  };

  return {
    use: async (work) => {
      if (producer?.lost === true) letGo();
      clearTimeout(idle);
      // Never a second connection beside one that is still ending.
      await closing;
      producer ??= await open();
      const outcomes = await work(producer);
      if (outcomes.every(isSound)) idle = setTimeout(letGo, idleMs).unref();
      else letGo();
      return outcomes;
    },
    [Symbol.asyncDispose]: async () => {
      letGo();
      await closing;
    },
  };
}

/** Whether the connection is as good as new. After any other failure the next attempt gets another one. */
function isSound(outcome: Outcome): boolean {
  if (outcome.status === 'delivered' || outcome.status === 'rejected') return true;
  return outcome.reason === 'throttled' || outcome.reason === 'quota-exceeded';
}
