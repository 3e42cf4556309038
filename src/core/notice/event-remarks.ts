// The sentences that end a notice about an event: what is inferred, what is not known, what not to misread.
import { impactOf } from './impact.ts';
import { isOnsetKnown, isUnderWay, type ReportedEvent } from './reported.ts';
import type { ReportedFleet } from './reported-fleet.ts';

const inferences: ReadonlyMap<string | null, string> = new Map([
  [
    'removed-after-started',
    'Inferred: Azure removed the event after it had started, which is how it says that one is over.',
  ],
  [
    'removed-before-not-before',
    'Inferred: Azure removed the event before its time, which is how it says that one is called off.',
  ],
  [
    'start-not-observed',
    'Inferred, and in doubt: Azure removed the event and nobody saw it start, but it was due or approved, the VM restarted, or the agent had not looked for more than 10 s. It most likely ran.',
  ],
]);

/** Sentences, in the order in which they matter. */
export function eventRemarks(event: ReportedEvent, fleet: ReportedFleet | null): readonly string[] {
  const witness = fleet === null ? witnessOf(event) : null;
  return [inferenceOf(event), ongoingOf(event), onsetOf(event), witness, typeOf(event)].filter(
    (remark) => remark !== null,
  );
}

function inferenceOf({ inferred, reason }: ReportedEvent): string | null {
  const known = inferences.get(reason);
  if (known !== undefined) return known;
  if (!inferred) return null;
  return reason === null ? 'Inferred: Azure did not say so itself.' : `Inferred: ${reason}.`;
}

function ongoingOf({ transition, details }: ReportedEvent): string | null {
  if (transition !== 'started' || details.eventType?.toLowerCase() !== 'freeze') return null;
  return 'The pause itself is shorter than the event, which Azure may keep open for minutes: it is over when its end is reported.';
}

function onsetOf(event: ReportedEvent): string | null {
  if (!event.initial) return null;
  return isUnderWay(event.details) && !isOnsetKnown(event)
    ? 'It was already in progress when the agent began: when it was announced and when it started is not known.'
    : 'It was already announced when the agent began: since when is not known.';
}

function witnessOf({ affected, vm }: ReportedEvent): string | null {
  if (affected === true) return null;
  if (vm.vmName === null)
    return 'The agent does not know the name of its VM yet, so whether the event names it is open.';
  return affected === false ? `The event does not name ${vm.vmName}, which only saw it.` : null;
}

function typeOf({ details: { eventType, durationSeconds } }: ReportedEvent): string | null {
  if (eventType === null || impactOf(eventType, durationSeconds).known) return null;
  return `What an event of type ${eventType} does to a VM is not known here.`;
}
