// The beginning of a term: where the notices go on, and what is known of the fleet; waits until the trail can say.
import { localStreams } from '../../core/stream.ts';
import type { Outbox } from '../../delivery/outbox/outbox.ts';
import type { OpenSink } from '../../sinks/index.ts';
import { openPositions, type Positions } from './positions.ts';
import { findStart } from './start.ts';
import { openTeller, type Teller } from './teller.ts';
import type { OpenReader, TermOptions } from './term.ts';
import { openVmDirectory, type VmDirectory } from './vm-directory.ts';

export interface BeginningOptions extends TermOptions {
  readonly outbox: Outbox;
  readonly sinks: readonly OpenSink[];
  readonly openReader: OpenReader;
}

export interface Beginning {
  readonly teller: Teller;
  readonly positions: Positions;
  /** Entries of each stream that were looked at. */
  readonly cursors: Map<string, number>;
  /** The name of the trail's journal. */
  readonly journal: string;
}

const retryMs = 2_000;

/** @returns null when the signal aborts before */
export async function begin(options: BeginningOptions, signal: AbortSignal): Promise<Beginning | null> {
  const { book, clock, log } = options;
  const directory = openVmDirectory();
  for (let isQuiet = false; !signal.aborted; isQuiet = true) {
    const begun = await attempt(options, directory);
    if (!('reason' in begun)) return begun;
    Object.assign(book, { role: 'failing', fault: begun.reason });
    if (!isQuiet) log.warn({ reason: begun.reason }, 'no notices yet: it cannot be known where they go on');
    await clock.sleep(retryMs, signal);
  }
  return null;
}

async function attempt(options: BeginningOptions, directory: VmDirectory) {
  const { trail, outbox, sinks, instance, settings, clock, log } = options;
  const known = await trail.trail();
  if (known.status === 'unavailable') return known;
  const start = await findStart({ trail, outbox, instance, now: clock.now() });
  if (start.status === 'unavailable') return start;
  await learnFleet(options.openReader, directory);
  const { since, told, cursors } = start;
  const teller = openTeller({
    ...{ outbox, sinks, trail: known.trail, since, told, directory, openReader: options.openReader, log },
    ...{ groupWaitMs: settings.groupWait, now: () => clock.now() },
  });
  if (teller === null) return { status: 'unavailable', reason: 'outbox-unusable' } as const;
  const monotonic = () => clock.monotonic();
  const positions = openPositions({ trail, outbox, instance, since, monotonic });
  const { journal } = localStreams(known.trail);
  return { teller, positions, cursors: new Map(cursors), journal };
}

/** What was said before the notices began is known as well. Without it, a message says less of VMs. */
async function learnFleet(openReader: OpenReader, directory: VmDirectory): Promise<void> {
  try {
    await using reader = await openReader();
    for (const agent of await reader.agents()) directory.learn(agent);
  } catch {
    // Whoever speaks from now on is learned anyway.
  }
}
