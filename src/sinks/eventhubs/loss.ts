// Notices at once that the connection to a hub is gone: the SDK leaves a send that is under way to its time-out.
import type { EventHubProducerClient } from '@azure/event-hubs';
import type { Outcome } from '../../core/delivery.ts';
import { codesOf } from '../http/network-fault.ts';

/** The connection of one producer, which is never used again once it was lost. */
export interface HubLoss {
  readonly lost: boolean;
  /** Runs an operation that ends when `signal` aborts or the connection is lost. @throws what the operation throws */
  guard<Value>(operation: (stop: AbortSignal) => Promise<Value>, signal: AbortSignal): Promise<Value>;
  /** What an error means that `guard` caused; null for any other. */
  outcomeOf(error: unknown): Outcome | null;
}

/** The part of the SDK that knows; not public, and done without where it is not there. */
interface Inside {
  readonly _context?: {
    readonly connection?: { on(event: 'connection_open' | 'disconnected', listener: () => void): void };
  };
}

/** Watches the connection that a client is about to make. */
export function watchLoss(client: EventHubProducerClient): HubLoss {
  const end = new AbortController();
  const connection = (client as unknown as Inside)._context?.connection;
  // One that never came to be open fails by itself, and says why.
  connection?.on('connection_open', () => connection.on('disconnected', () => end.abort()));
  let operations = 0;
  return {
    get lost() {
      return end.signal.aborted;
    },
    guard: async (operation, signal) => {
      operations += 1;
      // Neither outlives this connection, so that joining them leaves nothing behind.
      return await operation(AbortSignal.any([signal, end.signal]));
    },
    outcomeOf: (error) => {
      if (!end.signal.aborted || codesOf(error)[0] !== 'AbortError') return null;
      const stale = operations > 1 ? { stale: true } : {};
      return { status: 'retryable', reason: 'connection-reset', ...stale };
    },
  };
}
