// Finds in what the trail holds what is to be told: each fact once, and what agents say of themselves as they said it.
import type { StoredEntry } from '../../audit/store.ts';
import { isUrgent } from '../../core/delivery.ts';
import { envelopeSchema } from '../../core/envelope-schema.ts';
import { eventDataSchema } from '../../core/event-data-schema.ts';
import type { FleetFact } from '../../core/fleet-fact.ts';
import type { Observer } from '../../core/observer.ts';
import { readRecord, type TrailRecord } from '../../core/read-record.ts';
import type { BridgeRecord, EventData } from '../../core/record.ts';
import type { VmDirectory } from './vm-directory.ts';

/** Something to tell, with the id by which it is told once. */
export type Tellable =
  | { readonly kind: 'fact'; readonly id: string; readonly fact: FleetFact; readonly urgent: boolean }
  /** A record that goes on as it is. */
  | { readonly kind: 'record'; readonly id: string; readonly record: BridgeRecord };

export interface FindRules {
  /** Epoch ms: what the hub stored before is told to nobody. */
  readonly since: number;
  /** Epoch ms. */
  readonly now: number;
  readonly directory: VmDirectory;
  /** Of the ids given, those that were told before. */
  readonly saidAmong: (ids: readonly string[]) => ReadonlySet<string>;
}

/** What was found, and how many records there were that look like facts and are not whole. */
export interface Found {
  readonly tellables: readonly Tellable[];
  readonly odd: number;
}

const day = 24 * 3_600_000;
/** A fact that is older than this is told to nobody. */
export const tellableMsMax = 7 * day;
/** So much longer it is remembered: of many witnesses the slowest must not tell it anew. */
export const rememberedMs = 14 * day;
// The hub's clock and the one that said when notices were switched on are not the same.
const clockMsMax = 60_000;

/** What is new among entries of a stream, in their order. */
export function findTellables(entries: readonly StoredEntry[], rules: FindRules): Found {
  const heard = entries.flatMap((entry) => hear(entry, rules));
  const said = rules.saidAmong([...new Set(heard.map(({ record }) => record.id))]);
  const first = new Map<string, Heard>();
  const witnesses = new Map<string, Set<string>>();
  for (const one of heard) {
    const { id, source } = one.record;
    if (said.has(id)) continue;
    if (!first.has(id)) first.set(id, one);
    witnesses.set(id, (witnesses.get(id) ?? new Set()).add(source));
  }
  const found = [...first].map(([id, one]) => tellableOf(id, one, witnesses.get(id)?.size ?? 1, rules));
  const tellables = found.filter((each) => each !== null);
  return { tellables, odd: found.length - tellables.length };
}

interface Heard {
  readonly record: TrailRecord;
  readonly body: Uint8Array;
}

/** None for what is no record, or too old. Whoever speaks is learned from either way. */
function hear({ body, enqueuedMs }: StoredEntry, { since, now, directory }: FindRules): readonly Heard[] {
  if (body === null) return [];
  const reading = readRecord(body);
  if (reading.status === 'parked') return [];
  directory.learn(reading.record.agent.observer);
  const oldest = Math.min(enqueuedMs, reading.record.at);
  if (enqueuedMs < since - clockMsMax || oldest < now - tellableMsMax) return [];
  return [{ record: reading.record, body }];
}

function tellableOf(
  id: string,
  { record: { family, event }, body }: Heard,
  observers: number,
  { directory }: FindRules,
): Tellable | null {
  const record: BridgeRecord = JSON.parse(Buffer.from(body).toString('utf8'));
  // Whoever may send to the hub may send anything: what is not whole would break whoever tells it.
  if (!envelopeSchema.safeParse(record).success) return null;
  if (family !== 'event' || event === null) return { kind: 'record', id, record };
  if (!eventDataSchema.safeParse(record.data).success) return null;
  const told = record as BridgeRecord<EventData>;
  const { noticeSeconds, transition, event: said } = told.data;
  const going = transition === 'completed' || transition === 'canceled';
  const witness: Partial<Observer> = told.data.observer;
  const vms = event.vms.map((name) => directory.find(name, witness));
  return {
    ...{ kind: 'fact', id, fact: { record: told, vms, observers } },
    urgent: isUrgent(said.eventType, noticeSeconds, !going),
  };
}
