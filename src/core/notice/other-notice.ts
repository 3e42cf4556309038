// Notices of records that are about no event: the agent's own, trials, and kinds that are not known yet.
import type { Notice, NoticeFact } from '../notice.ts';
import { portalUrlOf } from './portal.ts';
import { child, type ReportedRecord, reportedEventId, reportedVm, wordsAt } from './reported.ts';
import { factOf, placeFacts, timeFact, vmFact } from './vm-facts.ts';

/** The notice of a message that somebody sent to try a sink. */
export function testNotice({ at, data }: ReportedRecord): Notice {
  const vm = reportedVm(data);
  const from = vm.vmName ?? 'a VM whose name is not known';
  return {
    state: 'test',
    tone: 'quiet',
    headline: `Test message from ${from}: nothing is scheduled`,
    title: `Test message: ${from}`,
    what: 'Nothing is scheduled',
    facts: [
      ...vmFact('VM', vm),
      ...timeFact('Sent', at),
      ...factOf('Sink', wordsAt(data, 'sink')),
      ...factOf('Agent', versionOf(data)),
      ...placeFacts(vm),
    ],
    description: null,
    remarks: ['Somebody tries whether notices arrive here. There is nothing to do.'],
    portalUrl: portalUrlOf(vm.resourceId),
    eventId: null,
  };
}

/** The notice of any other record: short, because nobody has to act on it. */
export function otherNotice(record: ReportedRecord): Notice {
  const { type, at, data } = record;
  const vm = reportedVm(data);
  const what = subjectOf(type);
  const from = vm.vmName ?? 'a VM whose name is not known';
  return {
    state: 'other',
    tone: 'quiet',
    headline: `${what} on ${from}`,
    title: `${what}: ${from}`,
    what,
    facts: [
      ...vmFact('VM', vm),
      ...timeFact('At', at),
      ...detailFacts(data),
      ...factOf('Agent', versionOf(data)),
      ...placeFacts(vm),
      ...factOf('Record type', type),
    ],
    description: null,
    remarks: [],
    portalUrl: portalUrlOf(vm.resourceId),
    eventId: reportedEventId(data),
  };
}

const subjects: Readonly<Record<string, string>> = {
  'agent.started': 'Agent started',
  'agent.heartbeat': 'Agent is watching',
};

function subjectOf(type: string): string {
  const name = /\.scheduled-events-bridge\.(.+?)(?:\.v\d+)?$/.exec(type)?.[1] ?? '';
  const known = Object.hasOwn(subjects, name) ? subjects[name] : undefined;
  return known ?? 'Record of a kind that is not known here';
}

const versionOf = (data: unknown): string | null => {
  const version = wordsAt(child(data, 'agent'), 'version');
  return version === null ? null : `version ${version}`;
};

/** What agents say of their source, such as `ok`; a heartbeat has it. */
function detailFacts(data: unknown): readonly NoticeFact[] {
  return factOf('Source', wordsAt(child(data, 'source'), 'state'));
}
