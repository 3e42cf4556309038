// What the loops of the agent tell to whoever measures: each thing once, where it happens.
import type { DeliveryReason, Outcome } from '../core/delivery.ts';
import type { BridgeRecord } from '../core/record.ts';
import type { PollOutcome } from '../core/source.ts';

/** One attempt, for one delivery: an attempt that carried several records is told once for each of them. */
export interface MeasuredAttempt {
  readonly sink: string;
  readonly outcome: Outcome['status'];
  /** Null when it was delivered. */
  readonly reason: DeliveryReason | null;
  readonly durationMs: number;
}

/** One delivery that has come to its end. */
export interface MeasuredSettlement {
  readonly sink: string;
  readonly state: 'delivered' | 'dead' | 'superseded';
  /** From the commit of the record, by the wall clock; never negative. */
  readonly endToEndMs: number;
}

/** Takes what is measured. It must neither throw nor wait. */
export interface Meters {
  /** One poll of IMDS. */
  poll(result: PollOutcome['status']): void;
  /** Records that are on disk now. */
  records(committed: readonly BridgeRecord[]): void;
  attempt(measured: MeasuredAttempt): void;
  settled(measured: MeasuredSettlement): void;
}

/** For programs that nobody measures. */
export const silentMeters: Meters = {
  poll: () => undefined,
  records: () => undefined,
  attempt: () => undefined,
  settled: () => undefined,
};
