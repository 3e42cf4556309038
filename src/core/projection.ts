// What a batch of entries changes in the projections: pure, so that every store derives the same from the same log.
import {
  type AgentState,
  agentStateOf,
  joinAgents,
  joinWitnesses,
  type WitnessState,
  witnessStateOf,
} from './agent-fold.ts';
import { type DeedKey, type DeedState, deedKey, deedStateOf, joinDeeds } from './deed-fold.ts';
import { type EventState, eventStateOf, joinEvents } from './event-fold.ts';
import {
  deedKeyIn,
  type EntryPlace,
  type ParkedEntry,
  type ReadBatch,
  type ReadEntry,
  type WitnessKey,
  witnessKey,
} from './read-batch.ts';
import { eventIdIn, type TrailRecord } from './read-record.ts';

/** One version of a record, where its copy that stands lowest is, and how many more copies there are. */
export interface Observation extends EntryPlace {
  readonly recordKey: string;
  readonly bodyKey: string;
  readonly repeats: number;
  readonly id: string;
  readonly source: string;
  readonly type: string;
  /** Epoch ms by the agent's clock. */
  readonly at: number;
  readonly agentId: string;
  readonly agentSequence: number | null;
  readonly eventId: string | null;
}

/** What the projections say already of what a batch speaks of. */
export interface Known {
  /** Every version of the batch's records. */
  readonly observations: readonly Observation[];
  readonly events: ReadonlyMap<string, EventState>;
  readonly agents: ReadonlyMap<string, AgentState>;
  /** By `witnessKey`. */
  readonly witnesses: ReadonlyMap<string, WitnessState>;
  /** By `deedKey`. */
  readonly deeds: ReadonlyMap<string, DeedState>;
}

export const nothingKnown: Known = {
  observations: [],
  events: new Map(),
  agents: new Map(),
  witnesses: new Map(),
  deeds: new Map(),
};

/** Rows to write, whole: each replaces what stands under its key. */
export interface Changes {
  readonly parked: readonly ParkedEntry[];
  readonly observations: readonly Observation[];
  readonly conflicts: readonly ConflictRow[];
  readonly events: ReadonlyMap<string, EventState>;
  /** VM names by event; of two spellings of one name the one that sorts first stays. */
  readonly vms: ReadonlyMap<string, ReadonlySet<string>>;
  readonly witnesses: readonly (WitnessKey & { readonly state: WitnessState })[];
  readonly deeds: readonly (DeedKey & { readonly state: DeedState })[];
  readonly agents: ReadonlyMap<string, AgentState>;
  readonly counts: AppendCounts;
}

export interface ConflictRow extends EntryPlace {
  readonly recordKey: string;
  readonly source: string;
  readonly id: string;
  /** How many versions of the record there are. */
  readonly variants: number;
}

/** What one append did. */
export interface AppendCounts {
  readonly entries: number;
  /** Records that were new. */
  readonly records: number;
  /** Copies of records that are here already, byte for byte. */
  readonly repeats: number;
  /** Records whose source and id stand here with other bytes: both are kept. */
  readonly conflicts: number;
  /** Entries that could not be read as a record. */
  readonly parked: number;
}

interface Draft {
  readonly known: Known;
  /** Every version of every record of the batch, by record and body. */
  readonly versions: Map<string, Map<string, Observation>>;
  readonly changed: Set<Observation>;
  readonly conflicts: Map<string, ConflictRow>;
  readonly events: Map<string, EventState>;
  readonly vms: Map<string, Set<string>>;
  readonly witnesses: Map<string, WitnessKey & { readonly state: WitnessState }>;
  readonly deeds: Map<string, DeedKey & { readonly state: DeedState }>;
  readonly agents: Map<string, AgentState>;
  readonly counts: { -readonly [Name in keyof AppendCounts]: AppendCounts[Name] };
}

/** What a batch changes, given what is known. Order and grouping of batches never change where it all ends. */
export function projectBatch(batch: ReadBatch, known: Known): Changes {
  const { entries, parked } = batch;
  const draft: Draft = {
    ...{ known, versions: new Map(), changed: new Set(), conflicts: new Map(), events: new Map() },
    ...{ vms: new Map(), witnesses: new Map(), deeds: new Map(), agents: new Map() },
    counts: { entries, records: 0, repeats: 0, conflicts: 0, parked: parked.length },
  };
  for (const version of known.observations)
    versionsOf(draft, version.recordKey).set(version.bodyKey, version);
  for (const entry of batch.records) take(draft, entry);
  const { versions, changed: _changed, conflicts, witnesses, deeds, known: _known, ...rest } = draft;
  const standing = [...versions.values()].flatMap((each) => [...each.values()]);
  const observations = standing.filter((version) => draft.changed.has(version));
  return {
    ...{ ...rest, parked, observations },
    ...{ conflicts: [...conflicts.values()], witnesses: [...witnesses.values()] },
    deeds: [...deeds.values()],
  };
}

function versionsOf({ versions }: Draft, recordKey: string): Map<string, Observation> {
  const standing = versions.get(recordKey) ?? new Map<string, Observation>();
  versions.set(recordKey, standing);
  return standing;
}

function take(draft: Draft, entry: ReadEntry): void {
  const versions = versionsOf(draft, entry.recordKey);
  const before = versions.get(entry.bodyKey);
  const now = before === undefined ? observationOf(entry) : repeated(before, entry);
  versions.set(entry.bodyKey, now);
  draft.changed.add(now);
  if (before !== undefined) {
    draft.counts.repeats += 1;
    return;
  }
  if (versions.size === 1) draft.counts.records += 1;
  else markConflict(draft, entry, versions.size);
  hear(draft, entry.record);
}

const observationOf = ({ record, recordKey, bodyKey, stream, index }: ReadEntry): Observation => ({
  ...{ recordKey, bodyKey, stream, index, repeats: 0 },
  ...{ id: record.id, source: record.source, type: record.type, at: record.at },
  ...{ agentId: record.agent.agentId, agentSequence: record.agent.sequence },
  eventId: eventIdIn(record),
});

/** Of several copies the one that stands lowest is the evidence, whichever came first. */
export const repeated = (before: Observation, { stream, index }: EntryPlace): Observation => ({
  ...before,
  ...(isLower({ stream, index }, before) ? { stream, index } : {}),
  repeats: before.repeats + 1,
});

const isLower = (one: EntryPlace, other: EntryPlace): boolean =>
  one.stream === other.stream ? one.index < other.index : one.stream < other.stream;

function markConflict(draft: Draft, { recordKey, record, stream, index }: ReadEntry, variants: number): void {
  const { source, id } = record;
  draft.conflicts.set(recordKey, { recordKey, source, id, variants, stream, index });
  draft.counts.conflicts += 1;
}

/** Folds a record into what the batch says. Both versions of a conflict count: neither can be called false. */
function hear(draft: Draft, record: TrailRecord): void {
  const { known, agents } = draft;
  const { agentId } = record.agent;
  const said = agents.get(agentId) ?? known.agents.get(agentId);
  const saying = agentStateOf(record);
  agents.set(agentId, said === undefined ? saying : joinAgents(said, saying));
  hearEvent(draft, record);
  hearDeed(draft, record);
}

function hearEvent({ known, events, vms, witnesses }: Draft, record: TrailRecord): void {
  const { event, agent } = record;
  const { agentId } = agent;
  const witness = witnessStateOf(record);
  if (event === null || witness === null) return;
  const { eventId } = event;
  const state = events.get(eventId) ?? known.events.get(eventId);
  const telling = eventStateOf(record, event);
  events.set(eventId, state === undefined ? telling : joinEvents(state, telling));
  vms.set(eventId, new Set([...(vms.get(eventId) ?? []), ...event.vms]));
  const key = witnessKey({ eventId, agentId });
  const before = witnesses.get(key)?.state ?? known.witnesses.get(key);
  const joined = before === undefined ? witness : joinWitnesses(before, witness);
  witnesses.set(key, { eventId, agentId, state: joined });
}

function hearDeed({ known, deeds }: Draft, record: TrailRecord): void {
  const key = deedKeyIn(record);
  if (key === null || record.deed === null) return;
  const name = deedKey(key);
  const before = deeds.get(name)?.state ?? known.deeds.get(name);
  const telling = deedStateOf(record, record.deed);
  deeds.set(name, { ...key, state: before === undefined ? telling : joinDeeds(before, telling) });
}
