// Looks now and then who of the fleet has fallen silent, or is heard again, and has each change told once.
import type { TrailReader } from '../../audit/store.ts';
import type { Clock } from '../../clock.ts';
import type { SilenceChange, SilenceState, SilentVm } from '../../core/fleet-record.ts';
import { type AgentStanding, standingsOf } from '../../core/silence.ts';
import type { Outbox } from '../../delivery/outbox/outbox.ts';
import type { Log } from '../../log.ts';
import { noteKeys } from './notes.ts';
import type { Teller } from './teller.ts';

export interface SilenceOptions {
  readonly outbox: Outbox;
  readonly teller: Teller;
  readonly openReader: () => Promise<TrailReader>;
  /** Whether all that the fleet says arrives in the trail now: else nobody can be called silent. */
  readonly isHearing: () => boolean;
  readonly intervalMs: number;
  /** Wakes the loops of the sinks. */
  readonly ring: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** What was told of a VM that is not simply heard. */
interface Voice {
  readonly state: 'silent' | 'asleep';
  /** Epoch ms: its last word, or the last answer of its IMDS, before that. */
  readonly since: number;
}

/** By agent. */
type Voices = Readonly<Record<string, Voice>>;

// After a start, what agents said meanwhile has to come first.
const hearingIntervals = 2;
// An agent that cannot reach the hub waits ever longer before it tries again, up to 15 minutes: until then its words
// are on its disk.
const outageTimes = 3;
const outageMsMax = 20 * 60_000;
// A busy machine is late by less; beyond that this program stood still, or its clock was set.
const lateMsMax = 30_000;

/** Until the signal aborts. */
export async function watchSilence(options: SilenceOptions, signal: AbortSignal): Promise<void> {
  const { clock, intervalMs, log } = options;
  const hasHeardLong = openHearing(options);
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal);
    if (signal.aborted) return;
    if (!hasHeardLong()) continue;
    try {
      await look(options);
    } catch (error) {
      // A trail that cannot be asked now is asked again; the text of the error may hold anything.
      log.warn(
        { error: error instanceof Error ? error.name : 'unknown' },
        'who is silent cannot be asked now',
      );
    }
  }
}

/** @returns what says, once in each interval, whether everything has been heard for so long that silence means something */
function openHearing({ clock, intervalMs, isHearing }: SilenceOptions): () => boolean {
  let sinceMs: number | null = null;
  let brokenMs = 0;
  let last = { wall: clock.now(), steady: clock.monotonic() };
  return () => {
    const now = { wall: clock.now(), steady: clock.monotonic() };
    const passedMs = Math.max(now.wall - last.wall, now.steady - last.steady);
    last = now;
    const isBroken = !isHearing() || passedMs > intervalMs + lateMsMax;
    if (isBroken) brokenMs += passedMs;
    sinceMs = isBroken ? null : (sinceMs ?? now.steady);
    const patienceMs = Math.max(hearingIntervals * intervalMs, Math.min(outageTimes * brokenMs, outageMsMax));
    if (sinceMs === null || now.steady - sinceMs < patienceMs) return false;
    brokenMs = 0;
    return true;
  };
}

async function look({ outbox, teller, openReader, ring, clock }: SilenceOptions): Promise<void> {
  await using reader = await openReader();
  const standings = standingsOf(await reader.agents(), clock.now());
  const noted = outbox.recall(noteKeys.voices);
  const before: Voices | null = noted === null ? null : JSON.parse(noted);
  const after = voicesAfter(standings, before ?? {});
  const note = JSON.stringify(after);
  if (note === noted) return;
  // Whoever was silent before the notices began is no news.
  const changes = before === null ? [] : changesOf(standings, before);
  if (teller.say(changes, { [noteKeys.voices]: note })) ring();
}

/** Whose time says nothing stays what he was called; who is gone is forgotten. */
const voicesAfter = (standings: readonly AgentStanding[], before: Voices): Voices =>
  Object.fromEntries(
    standings.flatMap(({ agentId, state, since }) => {
      const voice = before[agentId];
      if (state === 'unknown') return voice === undefined ? [] : [[agentId, voice] as const];
      if (state !== 'silent' && state !== 'asleep') return [];
      return [[agentId, voice?.state === state ? voice : { state, since }] as const];
    }),
  );

const order: readonly SilenceState[] = ['silent', 'heard', 'asleep', 'awake'];

/** One change for all whose voices changed alike. */
export function changesOf(standings: readonly AgentStanding[], before: Voices): readonly SilenceChange[] {
  const told = standings.flatMap((standing) => {
    const voice = before[standing.agentId];
    return newsOf(standing, voice?.state).map((state) => ({ state, vm: vmOf(standing, state, voice) }));
  });
  return order
    .map((state) => ({ state, vms: told.filter((each) => each.state === state).map(({ vm }) => vm) }))
    .filter(({ vms }) => vms.length > 0);
}

function newsOf({ state }: AgentStanding, before: Voice['state'] | undefined): readonly SilenceState[] {
  if (state === 'silent') return before === 'silent' ? [] : ['silent'];
  if (state === 'asleep')
    return before === 'asleep' ? [] : before === 'silent' ? ['heard', 'asleep'] : ['asleep'];
  if (state !== 'heard' || before === undefined) return [];
  return before === 'silent' ? ['heard'] : ['awake'];
}

function vmOf(standing: AgentStanding, state: SilenceState, voice: Voice | undefined): SilentVm {
  const { vmName, vmId, agentId, expectedBy } = standing;
  const isOverdue = state === 'silent';
  const isOver = state === 'heard' || state === 'awake';
  const since = isOver ? (voice?.since ?? standing.since) : standing.since;
  return {
    name: vmName ?? vmId ?? agentId,
    vmId,
    since: new Date(since).toISOString(),
    expectedBy: isOverdue ? new Date(expectedBy).toISOString() : null,
  };
}
