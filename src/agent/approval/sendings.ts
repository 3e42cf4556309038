// The approvals under way: each goes on until it is answered, comes too late, or its event is gone.
import type { PassingAnswer } from '../../core/approval-attempt.ts';
import { noConsequence } from '../reaction.ts';
import type { ReactionRuntime } from '../reactions.ts';
import { type ApprovalNotes, noteAfter, type SendingNote } from './notes.ts';
import { outcomeOf, type Sent, sendApproval } from './send.ts';
import { tellApproval } from './tell.ts';

export interface SendingsRuntime extends ReactionRuntime {
  readonly notes: ApprovalNotes;
}

export interface Sendings extends AsyncDisposable {
  has(key: string): boolean;
  /** Sends what was written down. */
  begin(key: string, note: SendingNote): void;
  /** The event is gone: ends the sending, and says that it came to nothing. */
  gone(key: string, note: SendingNote): void;
  /** Resolves when no request is unanswered. */
  answered(): Promise<void>;
}

interface Sending {
  readonly leaving: AbortController;
  readonly task: Promise<void>;
}

export function openSendings(runtime: SendingsRuntime): Sendings {
  const sendings = new Map<string, Sending>();
  const requests = new Set<Promise<unknown>>();
  const imds: Pick<SendingsRuntime['imds'], 'approve'> = {
    approve: (eventId, signal) => {
      const answered = new AbortController();
      const request = runtime.imds.approve(eventId, signal).finally(() => {
        answered.abort();
        requests.delete(request);
      });
      requests.add(request);
      void markIfSlow(eventId, answered.signal, runtime);
      return request;
    },
  };
  const send = async (key: string, note: SendingNote, leaving: AbortSignal): Promise<void> => {
    const signal = AbortSignal.any([runtime.signal, leaving]);
    const retried = warnOnce(note, runtime);
    const sent = await sendApproval(note.event, { ...runtime, imds, signal, retried });
    sendings.delete(key);
    // Without an answer the note stays as it is, and the next run sends again.
    if (sent.end !== 'ended' || leaving.aborted) conclude(key, note, sent, runtime);
  };
  return {
    has: (key) => sendings.has(key),
    begin(key, note) {
      const leaving = new AbortController();
      sendings.set(key, { leaving, task: send(key, note, leaving.signal) });
    },
    gone(key, note) {
      const sending = sendings.get(key);
      if (sending !== undefined) return sending.leaving.abort();
      conclude(key, note, { end: 'ended', answer: { status: null, attempts: 0 } }, runtime);
    },
    answered: async () => void (await Promise.allSettled(requests)),
    [Symbol.asyncDispose]: async () =>
      void (await Promise.all([...sendings.values()].map(({ task }) => task))),
  };
}

// No event begins, ends and leaves the document within this.
const slowMs = 250;

/** What its answer will be is not known, but the event may begin meanwhile: its absence means then that it may have run. */
async function markIfSlow(
  eventId: string,
  answered: AbortSignal,
  { clock, approved }: SendingsRuntime,
): Promise<void> {
  await clock.sleep(slowMs, answered);
  if (!answered.aborted) approved(eventId, noConsequence);
}

/** A request without an answer may have been taken: from then on the absence of the event means that it may have run. */
function warnOnce(
  { event }: SendingNote,
  { approved, log }: SendingsRuntime,
): (answer: PassingAnswer) => void {
  let [warned, marked] = [false, false];
  return (answer) => {
    if (answer.status === 'failed' && !marked) approved(event.eventId, noConsequence);
    marked ||= answer.status === 'failed';
    if (!warned)
      log.warn({ eventId: event.eventId, answer }, 'the approval is not answered: it is tried again');
    warned = true;
  };
}

function conclude(key: string, note: SendingNote, { end, answer }: Sent, runtime: SendingsRuntime): void {
  const { event, actor, rule, elected, undelivered } = note;
  const at = runtime.clock.now();
  const common = { event, actor, rule, elected, undelivered, answer: answer.attempts === 0 ? null : answer };
  const outcome = outcomeOf(end, actor.kind);
  tellApproval(key, { ...common, ...outcome }, noteAfter(end, event, at), runtime);
}
