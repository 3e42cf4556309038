// The one immediate second try of the delivery loop, for tests that drive a sink without that loop.
import type { Outcome } from '../../src/core/delivery.ts';

/** Sends, and at once again where the outcome says that the connection was stale. */
export async function withSecondTry(send: () => Promise<Outcome>): Promise<Outcome> {
  const outcome = await send();
  return outcome.status === 'retryable' && outcome.stale === true ? await send() : outcome;
}
