// The notice of VMs that fell silent, or are heard again: who, since when, and what that may mean.
import type { SilenceState } from '../fleet-record.ts';
import type { Notice, NoticeFact, NoticeTone } from '../notice.ts';
import { countText, nameList } from './name-list.ts';
import { child, type ReportedRecord, wordsAt } from './reported.ts';
import { itemsOf } from './reported-fleet.ts';
import { readTime, utcText } from './time-text.ts';
import { timeFact } from './vm-facts.ts';

interface Words {
  readonly tone: NoticeTone;
  /** Such as `3 VMs are silent`. */
  state(count: number): string;
  /** Such as `last heard`. */
  readonly since: string;
  /** What is said of a VM that has no such time. */
  readonly never: string;
  readonly listTitle: string;
  /** What it means: of one VM, or of several. */
  readonly remark: readonly [one: string, several: string];
}

const are = (count: number): string => `${countText(count, 'VM')} ${count === 1 ? 'is' : 'are'}`;

const words: Readonly<Record<SilenceState, Words>> = {
  silent: {
    tone: 'announced',
    state: (count) => `${are(count)} silent`,
    since: 'last heard',
    never: 'never heard',
    listTitle: 'Silent',
    remark: [
      'Its agent sends nothing, not even that it watches: the VM may be down, or the agent, or its way to the hub. Nobody there would tell of maintenance now.',
      'Their agents send nothing, not even that they watch: the VM may be down, or the agent, or its way to the hub. Nobody there would tell of maintenance now.',
    ],
  },
  heard: {
    tone: 'good',
    state: (count) => `${are(count)} heard again`,
    since: 'silent since',
    never: 'heard for the first time',
    listTitle: 'Heard again',
    remark: [
      'What its agent kept on disk meanwhile arrives now.',
      'What their agents kept on disk meanwhile arrives now.',
    ],
  },
  asleep: {
    tone: 'announced',
    state: (count) => `${countText(count, 'VM')} cannot see scheduled events`,
    since: 'last seen',
    never: 'never seen',
    listTitle: 'Cannot see',
    remark: [
      'Its agent is there, but the metadata service gives it no document: maintenance may come unannounced.',
      'Their agents are there, but the metadata service gives them no document: maintenance may come unannounced.',
    ],
  },
  awake: {
    tone: 'good',
    state: (count) => `${countText(count, 'VM')} ${count === 1 ? 'sees' : 'see'} scheduled events again`,
    since: 'could not since',
    never: 'since now',
    listTitle: 'Sees again',
    remark: [
      'The metadata service answers its agent again.',
      'The metadata service answers their agents again.',
    ],
  },
};

/** The notice of a silence record. */
export function silenceNotice({ data, at }: ReportedRecord): Notice {
  const state = states.find((name) => name === child(data, 'state')) ?? 'silent';
  const { tone, remark, listTitle, ...word } = words[state];
  const vms = itemsOf(child(data, 'vms'))
    .map((vm) => ({
      name: wordsAt(vm, 'name') ?? 'a VM without a name',
      since: readTime(child(vm, 'since')),
    }))
    .map(({ name, since }) => ({
      name,
      text: `${name} (${since === null ? word.never : `${word.since} ${utcText(since)}`})`,
    }));
  const [texts, names] =
    vms.length === 0
      ? [['none is named'], ['none is named']]
      : [vms.map(({ text }) => text), vms.map(({ name }) => name)];
  const title = word.state(vms.length);
  const list: NoticeFact = { title: listTitle, value: nameList(texts, 'VMs'), long: true };
  return {
    state: 'other',
    tone,
    headline: `${title}: ${nameList(texts, 'VMs', headlineLengthMax)}`,
    title: `${title}: ${nameList(names, 'VMs', titleLengthMax)}`,
    what: title,
    facts: [list, ...timeFact('Noticed', at)],
    description: null,
    remarks: [remark[vms.length === 1 ? 0 : 1]],
    portalUrl: null,
    eventId: null,
  };
}

const states: readonly SilenceState[] = ['silent', 'heard', 'asleep', 'awake'];
const headlineLengthMax = 300;
const titleLengthMax = 60;
