// Makes notices of what the trail holds: one commit for the place in the trail and all that is told because of it.
import type { StoredEntry } from '../../audit/store.ts';
import { takes } from '../../core/filter.ts';
import type { Speaker } from '../../core/fleet-fact.ts';
import { fleetRecord, silenceRecord } from '../../core/fleet-record.ts';
import type { BridgeRecord } from '../../core/record.ts';
import type { Draft, Notes } from '../../delivery/outbox/draft.ts';
import type { Outbox } from '../../delivery/outbox/outbox.ts';
import type { Log } from '../../log.ts';
import type { OpenSink } from '../../sinks/index.ts';
import { statement } from '../../sqlite.ts';
import { version } from '../../version.ts';
import { findTellables, type Tellable } from './facts.ts';
import { withMissing } from './missing.ts';
import { noteKeys, tellingKey } from './notes.ts';
import type { OpenReader } from './term.ts';
import type { VmDirectory } from './vm-directory.ts';
import { type AllWaves, foldFact, nextDueAt, noteOf, tellDue, wavesFrom } from './waves.ts';

export interface TellerOptions {
  readonly outbox: Outbox;
  readonly sinks: readonly Pick<OpenSink, 'name' | 'filter' | 'policy'>[];
  /** The trail's own id. */
  readonly trail: string;
  readonly since: number;
  /** What another notifier told already, by `tellingKey`. */
  readonly told: ReadonlySet<string>;
  readonly groupWaitMs: number;
  readonly directory: VmDirectory;
  readonly openReader: OpenReader;
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Log;
}

/** Each answer is false when the outbox does not take it: nothing has happened then, and the same may be tried again. */
export interface Teller {
  /** Tells what is new in these entries. @param upTo the index behind the last of them */
  take(stream: string, entries: readonly StoredEntry[], upTo: number): Promise<boolean>;
  /** Tells the news of waves that is due. */
  tellDue(): boolean;
  /** Says something of the fleet itself. */
  say(changes: readonly Parameters<typeof silenceRecord>[0][], notes: Notes): boolean;
  /** When the next news of a wave is due, epoch ms; infinite when none waits. */
  dueAt(): number;
}

interface State extends TellerOptions {
  waves: AllWaves;
}

/** @returns null while the outbox cannot be read */
export function openTeller(options: TellerOptions): Teller | null {
  const noted = options.outbox.notes(noteKeys.waves);
  if (!noted.ok) return null;
  const state: State = { ...options, waves: wavesFrom(noted.value) };
  return {
    take: (stream, entries, upTo) => take(state, entries, { [noteKeys.cursor + stream]: String(upTo) }),
    tellDue: () => {
      const times = { now: state.now(), groupWaitMs: state.groupWaitMs };
      const { drafts, notes, waves } = tellDue(state.waves, times, speakerFor(state));
      return drafts.length === 0 || commit(state, drafts, notes, waves);
    },
    say: (changes, notes) => {
      const at = state.now();
      const drafts = changes.map(
        (change): Draft => ({
          ...{ factId: null, urgent: false },
          make: (stamp) => silenceRecord(change, at, speakerFor(state)(stamp)),
        }),
      );
      return commit(state, drafts, notes, state.waves);
    },
    dueAt: () => nextDueAt(state.waves),
  };
}

const speakerFor =
  ({ trail }: TellerOptions) =>
  (stamp: Stamp): Speaker => ({ source: `urn:uuid:${trail}`, agent: { version, ...stamp } });

type Stamp = Parameters<Draft['make']>[0];

async function take(state: State, entries: readonly StoredEntry[], cursor: Notes): Promise<boolean> {
  const { outbox, since, directory, now, log } = state;
  let isReadable = true;
  const saidAmong = (ids: readonly string[]): ReadonlySet<string> => {
    const said = readSaid(outbox, ids);
    isReadable = said !== null;
    return said ?? new Set(ids);
  };
  const { tellables, odd } = findTellables(entries, { since, now: now(), directory, saidAmong });
  if (!isReadable) return false;
  if (odd > 0)
    log.warn({ odd }, 'records in the trail look like facts and are not whole: nobody is told of them');
  const known = await withMissing(tellables, state.openReader, now());
  const waves = new Map(state.waves);
  const drafts = known.flatMap((tellable) => {
    if (tellable.kind === 'record') return passedOn(tellable, state);
    const record = fleetRecord(tellable.fact, speakerFor(state)({ instanceId: '', sequence: 0 }));
    const { chats, streams } = takersOf(record, state);
    for (const [sink, isTaken] of chats) {
      // What a chat does not want to hear of is in its waves all the same: they would count wrongly without.
      const isTold = !isTaken || state.told.has(tellingKey(sink, tellable.id));
      const times = { now: now(), groupWaitMs: state.groupWaitMs };
      waves.set(sink, foldFact(waves.get(sink), { ...tellable, isTold }, times));
    }
    return factDraft(tellable, streams, state);
  });
  const changed = [...waves].filter(([sink, chat]) => chat !== state.waves.get(sink));
  const notes = changed.map(([sink, chat]) => noteOf(sink, chat));
  return commit(state, drafts, Object.assign({}, cursor, ...notes), waves);
}

/** Which of these ids were told before; null while the file cannot be read. */
function readSaid(outbox: Outbox, ids: readonly string[]): ReadonlySet<string> | null {
  if (ids.length === 0) return new Set();
  const sql = 'SELECT id FROM said WHERE id IN (SELECT value FROM json_each(?))';
  const rows = outbox.ask((database) => statement(database, sql).all(JSON.stringify(ids)));
  return rows.ok ? new Set(rows.value.map(({ id }) => String(id))) : null;
}

/** Chats hear of waves, and all others of each fact. */
function takersOf(record: BridgeRecord, { sinks }: TellerOptions) {
  const [chats, others] = [true, false].map((supersedes) =>
    sinks.filter(({ policy }) => policy.supersedes === supersedes),
  );
  return {
    /** Of each whether it wants to hear of this. */
    chats: (chats ?? []).map(({ name, filter }) => [name, takes(filter, record)] as const),
    streams: (others ?? []).filter(({ filter }) => takes(filter, record)).map(({ name }) => name),
  };
}

/** Made also when nobody takes it: that it was told is remembered with it. */
function factDraft(
  { id, fact, urgent }: Extract<Tellable, { kind: 'fact' }>,
  streams: readonly string[],
  state: State,
): Draft {
  const to = streams.filter((sink) => !state.told.has(tellingKey(sink, id)));
  const make: Draft['make'] = (stamp, named) => ({
    ...fleetRecord(fact, speakerFor(state)(stamp)),
    id: named,
  });
  return { factId: id, urgent, to, make };
}

/** Only what somebody takes: of all that agents say of themselves, nothing has to be remembered. */
function passedOn(
  { id, record }: Extract<Tellable, { kind: 'record' }>,
  { sinks, told }: State,
): readonly Draft[] {
  const taking = sinks.filter(({ filter }) => takes(filter, record)).map(({ name }) => name);
  const to = taking.filter((sink) => !told.has(tellingKey(sink, id)));
  return to.length === 0 ? [] : [{ factId: id, urgent: false, to, make: () => record }];
}

function commit(state: State, drafts: readonly Draft[], notes: Notes, waves: AllWaves): boolean {
  const committed = state.outbox.commit(null, drafts, notes);
  if (committed.ok) state.waves = waves;
  return committed.ok;
}
