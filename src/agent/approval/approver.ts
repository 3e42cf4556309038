// Approves events as the rules say: decides each time anew, writes down what it will do, sends, and says what came of it.
import { decideApproval } from '../../core/approval.ts';
import { contentOf, type ScheduledEvent } from '../../core/document.ts';
import { correlationOf } from '../../core/record.ts';
import type { Sighting, Watch } from '../../core/watch.ts';
import { noConsequence, type Reaction } from '../reaction.ts';
import type { PreparationOf, ReactionRuntime } from '../reactions.ts';
import {
  type ApprovalNote,
  type ApprovalNotes,
  noteOf,
  openApprovalNotes,
  type SendingNote,
} from './notes.ts';
import { openSendings, type Sendings } from './sendings.ts';
import { tellApproval } from './tell.ts';

export interface ApproverRuntime extends ReactionRuntime {
  readonly preparationOf: PreparationOf;
}

interface Tools extends ApproverRuntime {
  readonly notes: ApprovalNotes;
  readonly sendings: Sendings;
}

// An event that flickers within a day is not decided anew; Azure never gives an id twice.
const keepMs = 24 * 3_600_000;

export function openApprover(runtime: ApproverRuntime): Reaction {
  const notes = openApprovalNotes(runtime.outbox);
  const sendings = openSendings({ ...runtime, notes });
  const tools = { ...runtime, notes, sendings };
  return {
    foresee: () => noConsequence,
    act: (watch, now) => {
      if (!runtime.signal.aborted) act(watch, now, tools);
    },
    idle: () => sendings.answered(),
    [Symbol.asyncDispose]: () => sendings[Symbol.asyncDispose](),
  };
}

function act(watch: Watch, now: number, tools: Tools): void {
  const { notes, sendings, observer } = tools;
  const { vmName } = observer.current();
  // Before the name is known the outbox may be that of another VM, whose disk was copied; and without knowing what
  // was done before, nothing is done.
  if (vmName === null || !notes.refresh()) return;
  const present = new Map(Object.entries(watch.sightings));
  for (const [key, note] of notes.all) if (!present.has(key)) leave(key, note, now, tools);
  for (const [key, sighting] of present) {
    // While its absence is in doubt the next document says what is to be done.
    if (sighting.absence !== undefined) continue;
    const note = notes.all.get(key);
    if (note !== undefined && isOwnSending(note)) goOn(key, note, sighting, { ...tools, vmName });
    else if (!sendings.has(key) && isOpen(sighting, note)) decide(key, sighting, watch, tools);
  }
}

/**
 * A run that was ended in between may have told Azure or not: it is told again, as long as that is still this VM's to
 * say and its rules still do. The event may have changed since, and so may the rules.
 */
function goOn(
  key: string,
  note: SendingNote,
  { event, firstSeenAt }: Sighting,
  tools: Tools & { readonly vmName: string },
): void {
  const { settings, clock, sendings, vmName } = tools;
  const subject = {
    // An event that has begun may have done so by this very approval, whose answer is still to come.
    event: { ...event, eventStatus: 'Scheduled', notBefore: null },
    ...{ notBefore: null, firstSeenAt, vmName, approved: false, undelivered: [] },
    preparation: 'none',
  } as const;
  const { status } = decideApproval(subject, settings.approval, clock.now());
  if (status === 'refused' || status === 'nothing') sendings.gone(key, note);
  else if (!sendings.has(key)) sendings.begin(key, note);
}

/** What a person sends by hand is the person's own care. */
const isOwnSending = (note: ApprovalNote): note is SendingNote =>
  note.state === 'sending' && note.actor.kind === 'agent';

/** What became of an event that is no longer there. */
function leave(key: string, note: ApprovalNote, now: number, { sendings, notes, journal }: Tools): void {
  if (isOwnSending(note)) {
    sendings.gone(key, note);
  } else if (now - note.at >= keepMs) {
    notes.put(key, null);
    journal.commit(null, [], noteOf(key, null));
  }
}

/** Whether there may be something to decide: not about an event that the document may hide. */
function isOpen({ event, hidden }: Sighting, note: ApprovalNote | undefined): boolean {
  if (hidden === true) return false;
  return note?.state !== 'approved' && !(note?.state === 'failed' && note.content === contentOf(event));
}

function decide(key: string, sighting: Sighting, watch: Watch, tools: Tools): void {
  const { settings, clock, observer, notes, preparationOf } = tools;
  const { updated } = sighting.timeline;
  const subject = {
    ...sighting,
    changedAt: updated === undefined ? undefined : Date.parse(updated),
    approved: sighting.approved && !notes.all.has(key),
    vmName: observer.current().vmName,
    preparation: preparationOf(key, watch),
    undelivered: [],
  };
  const now = clock.now();
  const first = decideApproval(subject, settings.approval, now);
  // Only an approval that is due asks the disk.
  const undelivered = first.status === 'approve' ? missing(sighting.event, tools) : [];
  const decision = decideApproval({ ...subject, undelivered }, settings.approval, now);
  if (decision.status === 'nothing' || decision.status === 'waiting') return;
  const event = { ...sighting.event, notBefore: sighting.event.notBefore ?? sighting.notBefore };
  const actor = { kind: 'agent', name: subject.vmName } as const;
  if (decision.status === 'refused') {
    const { reason, rule } = decision;
    refuse(key, { decision: 'refused', event, reason, actor, rule, ...nothingSent }, tools);
    return;
  }
  const { rule, elected } = decision;
  const note = { state: 'sending', at: now, event, actor, rule, elected, undelivered } as const;
  if (!tools.journal.commitFirst([], noteOf(key, note))) return;
  notes.put(key, note);
  tools.sendings.begin(key, note);
}

const nothingSent = { elected: null, answer: null, undelivered: [] } as const;

/** The data sinks that lack a record of the event; all of them while the outbox cannot say. */
function missing(event: ScheduledEvent, { outbox, dataSinks }: Tools): readonly string[] {
  const found = outbox.sinksWithout(correlationOf(event.eventId), dataSinks);
  return found.ok ? found.value : dataSinks;
}

/** Says once for each reason that an event is not approved. */
function refuse(key: string, told: Parameters<typeof tellApproval>[1], tools: Tools): void {
  const known = tools.notes.all.get(key);
  const reasons = known?.state === 'refused' ? known.reasons : [];
  if (reasons.includes(told.reason)) return;
  const note = { state: 'refused', at: tools.clock.now(), reasons: [...reasons, told.reason] } as const;
  tellApproval(key, told, note, tools);
}
