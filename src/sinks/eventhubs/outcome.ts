// What an error of the Event Hubs SDK means for a delivery.
import { SecretUnreadable } from '../../config/secret.ts';
import { faultOfCode } from '../../core/answer-table.ts';
import type { Outcome } from '../../core/delivery.ts';
import { busyPauseMs, meaningOfHubError } from '../../core/hub-answer-table.ts';
import { outcomeOf, outcomeOfError } from '../http/answer.ts';
import { codesOf } from '../http/network-fault.ts';

/** The outcome of an attempt that threw; an error that nobody knows is worth another try. */
export function outcomeOfHubError(error: unknown): Outcome {
  if (error instanceof SecretUnreadable) return { status: 'unavailable', reason: 'secret-unreadable' };
  for (const code of codesOf(error)) {
    const known = meaningOfHubError(code);
    if (known !== null) return outcomeOf(...known, code === 'ServerBusyError' ? pauseOf(error) : null);
    if (faultOfCode(code) !== null) return outcomeOfError({ code }, false);
  }
  return { status: 'retryable', reason: 'unexpected' };
}

/** How long a busy hub wants to be left alone, in ms. Only its text says so, and nothing but the number is read. */
function pauseOf(error: unknown): number {
  const { message } = error as { readonly message?: unknown };
  const seconds = /\bwait (\d{1,4}) seconds?\b/i.exec(typeof message === 'string' ? message : '')?.[1];
  return seconds === undefined ? busyPauseMs : Number(seconds) * 1_000;
}
