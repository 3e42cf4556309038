// Sends the approval of a person: written down before, sent until it is answered, and told in a record.
import { userInfo } from 'node:os';
import type { DatabaseSync } from 'node:sqlite';
import { approvalDraft } from '../../agent/approval/draft.ts';
import { type ApprovalNote, approvalNotes, noteOf } from '../../agent/approval/notes.ts';
import { outcomeOf, type Sent, sendApproval } from '../../agent/approval/send.ts';
import type { ImdsClient } from '../../agent/imds.ts';
import type { AgentSettings } from '../../agent/settings.ts';
import { systemClock } from '../../clock.ts';
import type { ApprovalData, Told } from '../../core/deed.ts';
import { eventKey } from '../../core/document.ts';
import { commitBeside, notesBeside } from '../../delivery/outbox/beside.ts';
import type { Draft, Notes } from '../../delivery/outbox/draft.ts';
import { faultOf } from '../../delivery/outbox/storage.ts';
import type { CommandContext } from '../command.ts';
import { exitCodes } from '../dispatch.ts';
import type { HandSubject } from './subject.ts';

export interface HandRuntime {
  readonly context: CommandContext;
  readonly imds: ImdsClient;
  readonly settings: AgentSettings;
  readonly database: DatabaseSync;
}

// Nobody waits longer in front of a screen for an event of which Azure does not say when it starts.
const patienceMs = 15 * 60_000;
const keepMs = 30 * 24 * 3_600_000;

/** @returns the exit code; what came of it has been said */
export async function approveByHand(subject: HandSubject, runtime: HandRuntime): Promise<number> {
  const { context, imds } = runtime;
  const { event, undelivered } = subject;
  const key = eventKey(event.eventId);
  const actor = { kind: 'person', name: userName() } as const;
  const told = { event, actor, rule: null, elected: 'person', undelivered } as const;
  const now = systemClock.now();
  // The agent has to know of it even if this command is ended: then the absence of the event means that it may have run.
  const intention = noteOf(key, { state: 'sending', at: now, ...told });
  writeDown([], { ...oldNotes(runtime.database, now), ...intention }, runtime);
  const notBefore = event.notBefore ?? new Date(now + patienceMs).toISOString();
  const { signal, stderr } = context;
  const retried = (answer: object): void => {
    stderr.write(`seb: no answer yet (${wordsOf(answer)}); it is tried again, Ctrl-C ends that\n`);
  };
  const sent = await sendApproval(
    { eventId: event.eventId, notBefore },
    { imds, clock: systemClock, signal, retried },
  );
  if (sent.end === 'ended') {
    stderr.write('seb: interrupted: whether Azure took the approval is not known; see "seb current"\n');
    return exitCodes.interrupted;
  }
  const isTold = writeOutcome(
    { ...told, ...outcomeOf(sent.end, 'person'), answer: answerOf(sent) },
    subject,
    runtime,
  );
  const code = tell(sent, event.eventId, context);
  return isTold ? code : exitCodes.failed;
}

const answerOf = ({ answer }: Sent) => (answer.attempts === 0 ? null : answer);

/** @returns false when the outbox does not take it */
function writeOutcome(
  told: Told<ApprovalData>,
  { event, observer }: HandSubject,
  runtime: HandRuntime,
): boolean {
  const at = systemClock.now();
  const notes = noteOf(eventKey(event.eventId), noteAfterwards(told.decision === 'approved', at));
  try {
    writeDown([approvalDraft(at, told, () => observer)], notes, runtime);
    return true;
  } catch (error) {
    if (faultOf(error) === null) throw error;
    const sentence = 'what came of it could not be written to the outbox, so no sink will tell of it';
    runtime.context.stderr.write(`seb: ${sentence}\n`);
    return false;
  }
}

/** No event has this content: the rules of the agent, which may be allowed more, decide as if nobody had tried. */
const noteAfterwards = (isApproved: boolean, at: number): ApprovalNote =>
  isApproved ? { state: 'approved', at } : { state: 'failed', at, content: '' };

function tell({ end, answer }: Sent, eventId: string, { stdout, stderr }: CommandContext): number {
  if (end === 'accepted') {
    stdout.write(`approved ${eventId}\n`);
    return exitCodes.fine;
  }
  const why =
    end === 'too-late'
      ? 'there was no answer before the event is due'
      : `the metadata service refuses it (${answer.status})`;
  stderr.write(`seb: ${eventId} was not approved: ${why}\n`);
  return exitCodes.failed;
}

const wordsOf = (answer: { readonly reason?: string; readonly code?: number | null }): string =>
  answer.reason ?? `answers ${answer.code}`;

function writeDown(drafts: readonly Draft[], notes: Notes, { database, settings }: HandRuntime): void {
  const routes = Object.entries(settings.sinks).map(([name, { filter }]) => ({ name, filter }));
  commitBeside(database, { drafts, notes, routes, now: systemClock.now() });
}

/** Forgets what nobody else would, where the agent itself approves nothing. */
function oldNotes(database: DatabaseSync, now: number): Notes {
  const old = [...notesBeside(database, approvalNotes)].filter(
    ([, value]) => now - (JSON.parse(value) as ApprovalNote).at > keepMs,
  );
  return Object.fromEntries(old.map(([key]) => [key, null]));
}

/** As the system knows who did it; behind sudo, who is behind it. */
function userName(): string | null {
  const behind = process.env['SUDO_USER'];
  try {
    const { username } = userInfo();
    return behind === undefined || behind === username ? username : `${behind} as ${username}`;
  } catch {
    // A container may run as a number that has no name.
    return process.getuid === undefined ? null : `uid ${process.getuid()}`;
  }
}
