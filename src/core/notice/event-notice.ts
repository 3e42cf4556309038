// The notice of a change in the life of an event.
import type { TransitionKind } from '../diff.ts';
import type { Notice, NoticeTone } from '../notice.ts';
import { eventFacts } from './event-facts.ts';
import { headlineOf, stateText, vmsText, whatOf } from './event-headline.ts';
import { eventRemarks } from './event-remarks.ts';
import { fleetPortalUrl } from './fleet-facts.ts';
import { portalUrlOf } from './portal.ts';
import { type ReportedEvent, type ReportedRecord, reportedEvent, reportedEventId } from './reported.ts';
import { reportedFleet } from './reported-fleet.ts';

/** Makes the notices of one transition. */
export const eventNoticeOf =
  (transition: TransitionKind) =>
  ({ data, at, severity, correlationId }: ReportedRecord): Notice => {
    const event = reportedEvent(transition, data, at);
    const fleet = reportedFleet(data);
    return {
      state: transition,
      tone: toneOf(event, severity),
      headline: headlineOf(event),
      title: `${stateText(event)}: ${vmsText(event)}`,
      what: whatOf(event),
      facts: eventFacts(event, fleet),
      description: event.details.description,
      remarks: eventRemarks(event, fleet),
      // The link is the observer's: it must not pass for that of a VM which it only heard of.
      portalUrl:
        event.affected === true ? portalUrlOf(event.vm.resourceId) : fleetPortalUrl(fleet?.vms ?? []),
      eventId: reportedEventId(data) ?? correlationId,
    };
  };

function toneOf({ transition }: ReportedEvent, severity: string | null): NoticeTone {
  if (transition === 'completed') return 'good';
  if (transition === 'canceled') return 'quiet';
  if (severity === 'ERROR') return 'alarming';
  return transition === 'started' ? 'ongoing' : 'announced';
}
