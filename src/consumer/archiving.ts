// Keeps a copy of the trail's log in plain files: what is new goes there at each interval, whatever else happens.
import { type ArchiveFault, archiveAdvice, needsPerson } from '../audit/archive/fault.ts';
import { type ArchiveSettings, openArchiveFiles } from '../audit/archive/open.ts';
import { type ArchiveWriter, type CopyResult, openArchiveWriter } from '../audit/archive/writer.ts';
import { type TrailSource, TrailUnusable } from '../audit/store.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

/** How the copy stands, after each step of it. */
export type ArchiveState =
  /** It held everything at that time, epoch ms. */
  | { readonly state: 'complete'; readonly at: number }
  /** There is more to copy than one step takes. */
  | { readonly state: 'catching-up' }
  | {
      readonly state: 'failing';
      readonly reason: ArchiveFault;
      /** The file or the stream; null when it is about all of it. */
      readonly place: string | null;
      /** Epoch ms of the first failure in a row. */
      readonly since: number;
    };

export interface ArchiveOptions {
  readonly settings: ArchiveSettings & { readonly interval: number };
  /** The trail as it stands now; closed after each step. */
  readonly openSource: () => Promise<TrailSource>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onState?: (state: ArchiveState) => void;
}

// Short enough that a trail in SQLite is not held at one moment for long: its write-ahead log grows meanwhile.
const stepLength = 16 * 1024 * 1024;
const pauseMsMax = 5 * 60_000;

/** Copies until the signal aborts. Nothing that goes wrong with a copy ends or stops the consumer. */
export async function runArchive(options: ArchiveOptions): Promise<void> {
  const { settings, clock, signal } = options;
  await using files = openArchiveFiles(settings);
  const writer = openArchiveWriter(files);
  const report = openReport(options, files.place);
  for (let failures = 0; !signal.aborted; ) {
    const startedAt = clock.now();
    const result = await step(options, writer);
    if (result.status === 'failed' && result.reason === 'aborted') break;
    report(result, startedAt);
    failures = result.status === 'failed' ? failures + 1 : 0;
    await clock.sleep(waitMs(result, settings.interval, failures), signal);
  }
}

function waitMs({ status }: CopyResult, intervalMs: number, failures: number): number {
  if (status === 'more') return 0;
  const pauseMs = Math.min(intervalMs * 2 ** Math.min(failures, 10), pauseMsMax);
  return Math.max(intervalMs, status === 'failed' ? pauseMs : 0);
}

async function step({ openSource, signal }: ArchiveOptions, writer: ArchiveWriter): Promise<CopyResult> {
  try {
    await using source = await openSource();
    return await writer.copy(source, { signal, lengthMax: stepLength });
  } catch (error) {
    // What throws anything else has a bug, and its text may hold anything.
    const reason = error instanceof TrailUnusable ? 'trail-unreadable' : 'unexpected';
    return { status: 'failed', reason: signal.aborted ? 'aborted' : reason, at: null };
  }
}

/** Tells every state, and logs one line when it is another one. */
function openReport({ log, onState }: ArchiveOptions, place: string) {
  let last: ArchiveState | null = null;
  let logged = '';
  return (result: CopyResult, at: number): void => {
    const state = stateOf(result, at, last);
    // A busy hour brings more than one step takes, again and again: no news once the copy was complete.
    const isNews = nameOf(state) !== logged && !(state.state === 'catching-up' && logged === 'complete');
    if (isNews) logState(log, place, state);
    if (isNews) logged = nameOf(state);
    last = state;
    onState?.(state);
  };
}

function stateOf(result: CopyResult, at: number, last: ArchiveState | null): ArchiveState {
  if (result.status !== 'failed')
    return result.status === 'done' ? { state: 'complete', at } : { state: 'catching-up' };
  const since = last?.state === 'failing' ? last.since : at;
  return { state: 'failing', reason: result.reason, place: result.at, since };
}

const nameOf = (state: ArchiveState): string =>
  state.state === 'failing' ? `failing ${state.reason}` : state.state;

function logState(log: Log, archive: string, state: ArchiveState): void {
  if (state.state !== 'failing') {
    const how = state.state === 'complete' ? 'is complete' : 'catches up';
    log.info({ archive }, `the copy of the trail ${how}`);
    return;
  }
  const { reason, place } = state;
  const level = needsPerson.has(reason) ? 'error' : 'warn';
  const advice = archiveAdvice[reason];
  log[level]({ archive, place, reason, advice }, 'the copy of the trail does not go on; it is tried again');
}
