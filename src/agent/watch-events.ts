// The watch loop: polls, sees what changed, and has it written down before it counts as seen.
import type { Clock } from '../clock.ts';
import { isUrgent } from '../core/delivery.ts';
import { type BridgeRecord, eventRecord, factId, type Provenance } from '../core/record.ts';
import { pace, type SourceDecision, type SourceHistory, unknownSource } from '../core/source.ts';
import {
  emptyWatch,
  markApproved,
  type Observation,
  observe,
  type Sighting,
  type Watch,
} from '../core/watch.ts';
import type { Journal } from '../delivery/journal.ts';
import type { Meters } from '../delivery/meters.ts';
import type { Draft } from '../delivery/outbox/draft.ts';
import type { Outbox } from '../delivery/outbox/outbox.ts';
import type { Wake } from '../delivery/wake.ts';
import type { OutboxWatch } from '../delivery/watch-outbox.ts';
import type { Log } from '../log.ts';
import { version } from '../version.ts';
import { openAdoption } from './approval/adoption.ts';
import type { PollMark } from './host.ts';
import type { ImdsClient, Poll } from './imds.ts';
import type { ObserverSource } from './observer-source.ts';
import type { Consequence, Reaction, SeenDocument } from './reaction.ts';
import type { AgentSettings } from './settings.ts';

/** What the watch loop works with. */
export interface WatchRuntime {
  readonly settings: AgentSettings;
  readonly imds: ImdsClient;
  readonly outbox: Outbox;
  /** What other processes do to the outbox. */
  readonly outboxWatch: OutboxWatch;
  readonly journal: Journal;
  readonly observer: ObserverSource;
  readonly mark: PollMark;
  readonly bootId: string;
  readonly wake: Wake;
  readonly meters: Meters;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Resolves when the first record of this run may be written. */
  readonly announced: Promise<void>;
  /** What the agent does about events. */
  readonly reaction: Reaction;
}

/** What others may ask about the source: for heartbeats, health and readiness. */
export interface SourceView {
  readonly source: SourceHistory;
  /** Epoch ms of the last good document of this run. */
  readonly lastDocumentAt: number | null;
  /** Ms since then, by a clock that never jumps; without a document, since this run began. */
  readonly documentAgeMs: number;
  /** By how many ms the loop is behind its own plan; 0 while it is on time. */
  readonly lateMs: number;
  readonly incarnation: string | null;
  readonly events: number;
  /** The events that are under way. */
  readonly seen: readonly Sighting[];
}

export interface EventWatch {
  view(): SourceView;
  /** Polls until the signal aborts. */
  run(): Promise<void>;
  /** Remembers that this agent approved an event, and writes down what else came of it. */
  approved(eventId: string, deed: Consequence): void;
}

/** Everything the loop remembers between two polls. */
interface Memory {
  source: SourceHistory;
  /** Null until the outbox could be asked what was last seen. */
  watch: Watch | null;
  lastDocumentAt: number | null;
  lastMonotonicMs: number | null;
  /** When the loop has to have begun its next poll, by the monotonic clock. */
  nextTurnMs: number;
  /** Marks what others approved: its absence then means that it ran. */
  readonly adopt: (watch: Watch) => Watch;
}

export function watchEvents(runtime: WatchRuntime): EventWatch {
  const { clock } = runtime;
  const openedMs = clock.monotonic();
  const memory: Memory = {
    source: unknownSource(clock.now()),
    watch: null,
    lastDocumentAt: null,
    lastMonotonicMs: null,
    nextTurnMs: openedMs,
    adopt: openAdoption(runtime.outbox),
  };
  return {
    view: () => ({
      source: memory.source,
      lastDocumentAt: memory.lastDocumentAt,
      documentAgeMs: clock.monotonic() - (memory.lastMonotonicMs ?? openedMs),
      lateMs: Math.max(clock.monotonic() - memory.nextTurnMs, 0),
      incarnation: memory.watch?.incarnation ?? null,
      events: Object.keys(memory.watch?.sightings ?? {}).length,
      seen: Object.values(memory.watch?.sightings ?? {}),
    }),
    run: () => run(runtime, memory),
    approved: (eventId, deed) => noteApproval(eventId, deed, runtime, memory),
  };
}

async function run(runtime: WatchRuntime, memory: Memory): Promise<void> {
  const { settings, imds, meters, clock, signal } = runtime;
  const policy = { pollIntervalMs: settings.imds.pollInterval, warmupMs: settings.imds.firstTimeout };
  while (!signal.aborted) {
    const startedMs = clock.monotonic();
    const timeoutMs = memory.source.warm ? settings.imds.timeout : settings.imds.firstTimeout;
    memory.nextTurnMs = startedMs + timeoutMs;
    const poll = await imds.poll(timeoutMs, signal);
    if (signal.aborted) break;
    meters.poll(poll.status);
    if (poll.status === 'document') {
      await runtime.announced;
      takeDocument(poll, runtime, memory);
    }
    const decision = pace(poll, memory.source, policy, clock.now());
    memory.source = decision.history;
    tellSource(decision, runtime.log);
    writeWhatWaits(runtime);
    runtime.outboxWatch.look();
    // From start to start, so that a slow answer does not stretch the interval; but a wait that IMDS asks for
    // begins with its answer.
    const spentMs = poll.status === 'throttled' ? 0 : clock.monotonic() - startedMs;
    const restMs = Math.max(decision.delayMs - spentMs, 0);
    memory.nextTurnMs = clock.monotonic() + restMs;
    await clock.sleep(restMs, signal);
  }
}

type DocumentPoll = Extract<Poll, { status: 'document' }>;

function takeDocument(poll: DocumentPoll, runtime: WatchRuntime, memory: Memory): void {
  const { clock, outbox, journal, mark, bootId } = runtime;
  const firstSinceStart = memory.lastDocumentAt === null;
  if (memory.watch === null) {
    const known = outbox.watch();
    // Without knowing what was last seen, everything would look new: the document is read again next time.
    if (!known.ok) return;
    memory.watch = known.value ?? emptyWatch(bootId);
  }
  memory.watch = memory.adopt(memory.watch);
  const pollGapMs = gap(runtime, memory);
  const moment = { now: clock.now(), pollGapMs, bootId, firstSinceStart };
  const { watch, observations, changed } = observe(memory.watch, poll.document, moment);
  const provenance = {
    incarnation: poll.document.incarnation,
    apiVersion: runtime.settings.imds.apiVersion,
    bootId,
    pollGapMs,
  };
  const drafts = observations.map((observation) => draftOf(observation, provenance, runtime));
  const seen = { watch, before: memory.watch, observations, now: moment.now, firstSinceStart };
  memory.watch = watch;
  memory.lastDocumentAt = moment.now;
  memory.lastMonotonicMs = clock.monotonic();
  if (firstSinceStart || changed) tellOddities(poll.oddities, runtime.log);
  const committed = changed ? commitSeen(seen, drafts, runtime) : journal.retry();
  if (committed === null) return;
  mark.write(moment.now);
  tellRecords(committed, runtime);
  runtime.reaction.act(memory.watch, moment.now);
}

/** Notices are on their way before anything is done about what they tell. */
function commitSeen(seen: SeenDocument, drafts: readonly Draft[], { journal, reaction }: WatchRuntime) {
  const consequence = reaction.foresee(seen);
  return journal.commit(seen.watch, [...drafts, ...consequence.drafts], consequence.notes);
}

/** What this agent approved is remembered with the event: its absence then means that it ran. */
function noteApproval(eventId: string, deed: Consequence, runtime: WatchRuntime, memory: Memory): void {
  if (memory.watch !== null) memory.watch = markApproved(memory.watch, eventId);
  const committed = runtime.journal.commit(memory.watch, deed.drafts, deed.notes);
  if (committed !== null) tellRecords(committed, runtime);
}

/** Ms since the last good document: by the clock that said more, for a frozen VM's clocks disagree. */
function gap({ clock, mark }: WatchRuntime, memory: Memory): number | null {
  if (memory.lastDocumentAt === null || memory.lastMonotonicMs === null) {
    return mark.last === null ? null : Math.max(Math.round(clock.now() - mark.last), 0);
  }
  const wallMs = clock.now() - memory.lastDocumentAt;
  return Math.max(Math.round(wallMs), Math.round(clock.monotonic() - memory.lastMonotonicMs), 0);
}

function draftOf(observation: Observation, provenance: Provenance, { observer }: WatchRuntime): Draft {
  const { event, kind, noticeSeconds } = observation;
  const going = kind === 'completed' || kind === 'canceled';
  return {
    factId: factId(kind, event),
    urgent: isUrgent(event.eventType, noticeSeconds, !going),
    make: (stamp, id) =>
      eventRecord(
        observation,
        id,
        { observer: observer.current(), agent: { version, ...stamp } },
        provenance,
      ),
  };
}

/** Between polls: what waits for the disk. */
function writeWhatWaits({ journal, wake, log }: WatchRuntime): void {
  const written = journal.retry();
  if (written !== null && written.length > 0) tellRecords(written, { log, wake });
}

function tellRecords(
  records: readonly BridgeRecord[],
  { log, wake }: Pick<WatchRuntime, 'log' | 'wake'>,
): void {
  for (const record of records) {
    log.info({ id: record.id, type: record.type, sequence: record.sequence }, 'record');
  }
  if (records.length > 0) wake.ring();
}

function tellOddities(oddities: readonly string[], log: Log): void {
  for (const oddity of oddities.slice(0, 20)) log.warn({ oddity }, 'the document is odd');
}

function tellSource({ changed, history }: SourceDecision, log: Log): void {
  if (!changed) return;
  const fields = { state: history.state, detail: history.detail };
  if (history.state === 'fresh' || history.state === 'warming') log.info(fields, 'source');
  else if (history.state === 'refused') log.error(fields, 'source: a person is needed');
  else log.warn(fields, 'source: it will be asked again');
}
