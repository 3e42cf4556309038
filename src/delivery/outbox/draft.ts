// What the outbox is given: sinks to queue for, and records that still lack their number.
import type { RecordFilter } from '../../core/filter.ts';
import type { BridgeRecord } from '../../core/record.ts';

/** A sink as the outbox knows it: what it is called and what it takes. */
export interface Route {
  readonly name: string;
  readonly filter: RecordFilter;
}

/** A record that has everything but its number. */
export interface Draft {
  /** For event records, the id of the fact: said again, it gets a number. Null for what the agent says of itself. */
  readonly factId: string | null;
  /** Goes to every sink at once, past backoff and suspension. */
  readonly urgent: boolean;
  /** Only for these sinks, whatever their filters say; for all that take it unless given. */
  readonly to?: readonly string[];
  make(stamp: { readonly instanceId: string; readonly sequence: number }, id: string): BridgeRecord;
}

/** Small facts that are kept beyond the end of the process, by key; null forgets one. */
export type Notes = Readonly<Record<string, string | null>>;
