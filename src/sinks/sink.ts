// The contract of a sink: what it must offer, and what it must leave to others.
import type * as z from 'zod';
import type { DeliveryPolicy, DeliveryReason, Outcome } from '../core/delivery.ts';
import type { RecordFilter } from '../core/filter.ts';
import type { BridgeRecord } from '../core/record.ts';

/** A record on its way: its bytes were made at commit and are sent as they are. */
export interface OutgoingRecord {
  readonly record: BridgeRecord;
  readonly bytes: Buffer;
}

/** What `seb check` learns about a sink. */
export type CheckResult =
  | { readonly ok: true; readonly detail: string }
  | {
      readonly ok: false;
      readonly detail: string;
      /** Why, where a delivery would fail for the same reason. */
      readonly reason?: DeliveryReason;
    };

/**
 * An open sink. It makes one attempt and returns an outcome: it never retries, sleeps, logs or counts.
 * Expected failures are outcomes; a throw is a bug.
 */
export interface Sink extends AsyncDisposable {
  /**
   * Makes one attempt, within the sink's own time-out.
   * @param signal ends the attempt early: the outcome is then `retryable` with reason `aborted`
   */
  send(outgoing: OutgoingRecord, signal: AbortSignal): Promise<Outcome>;
  /**
   * Makes one attempt with several records, in order, where one request can carry them.
   * @param batch at least one record, and no more than `batchMax` allows
   * @returns the outcomes in the order of the records; records behind the last outcome were not tried. At least one
   */
  sendMany?(batch: readonly OutgoingRecord[], signal: AbortSignal): Promise<readonly Outcome[]>;
  /** How much `sendMany` takes at once: records, and bytes of all records together. */
  readonly batchMax?: { readonly records: number; readonly bytes: number };
  /** The least ms from one attempt to the next, where the receiver allows no more; may change with its answers. */
  readonly spacingMs?: number;
  /** Reaches the other end without leaving a trace there, where that is possible. */
  check(signal: AbortSignal): Promise<CheckResult>;
  /** Lets go of files that may have been rotated away; called on SIGHUP. */
  reopen?(): void;
}

/**
 * What a sink has to know beyond the end of the process, such as the message that it will update later.
 * Kept for 30 days, for this sink alone.
 */
export interface SinkMemory {
  get(key: string): string | null;
  /** Durable when it returns; while the disk takes nothing, kept until the process ends. */
  set(key: string, value: string): void;
}

/** What a sink may know of the program around it. */
export interface SinkContext {
  readonly memory: SinkMemory;
  /** Where IMDS is: managed identity asks it for tokens. */
  readonly imdsEndpoint: string;
  /** The program's version, for `User-Agent`. */
  readonly version: string;
}

/** One kind of sink. `open` does no I/O, so that a dead sink cannot stop the agent from starting. */
export interface SinkType<Type extends string = string, Settings extends z.ZodObject = z.ZodObject> {
  readonly type: Type;
  readonly summary: string;
  /** The sink's own settings, each with `.describe()`; `type` and `filter` are added for every sink. */
  readonly settings: Settings;
  /** What the sink takes unless its `filter` setting says otherwise. */
  readonly filter: RecordFilter;
  readonly policy: DeliveryPolicy;
  /** What a person has to know after a test that went well, where the receiver's answer does not say all. */
  testNoteOf?(settings: z.output<Settings>): string | null;
  open(settings: z.output<Settings>, context: SinkContext): Sink;
}

/** Everything one kind of sink is: its settings, its defaults and how to open it. */
export const defineSink = <Type extends string, Settings extends z.ZodObject>(
  definition: SinkType<Type, Settings>,
): SinkType<Type, Settings> => definition;

/** What streams take unless told otherwise: every record of every observer. */
export const streamFilter: RecordFilter = {
  observer: 'all',
  sample: 0.05,
  records: ['event', 'agent', 'approval', 'hook', 'impact', 'fleet'],
};

/** What HTTP and chat sinks take: each named VM speaks for itself, about events only. */
export const affectedFilter: RecordFilter = { observer: 'affected', sample: 0.05, records: ['event'] };
