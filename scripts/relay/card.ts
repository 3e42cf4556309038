// The blocks of the relay's Adaptive Card around its facts, and the message that a Teams workflow takes.
import {
  and,
  call,
  concat,
  type Expression,
  equals,
  evaluated,
  isEmpty,
  not,
  or,
  outcome,
  record,
  text,
  when,
  words,
} from './expression.ts';
import { isKind, read, what } from './reading.ts';
import { freezeRemark, testRemark } from './words.ts';

const wordOf = (table: string, name: Expression): Expression => `${outcome('Words', table)}?[${name}]`;
const othersCount = call('length', "body('Other_VMs')");

const state = when(
  read('isDoubtful'),
  text('Maintenance probably completed'),
  words(wordOf('states', read('kind'))),
);

const more = concat(
  text(' and '),
  call('string', othersCount),
  when(equals(othersCount, '1'), text(' more VM'), text(' more VMs')),
);

const unnamed = when(
  isKind('test'),
  text('a VM whose name is not known'),
  text('a VM that Azure did not name'),
);

const title = concat(
  state,
  text(': '),
  when(isEmpty(read('vm')), unnamed, read('vm')),
  when(equals(othersCount, '0'), text(''), more),
);

const description = words(record('data.event.description'));
const azureSays = when(isEmpty(description), text(''), concat(text('Azure says: '), description));

const isFreeze = equals(call('toLower', read('eventType')), text('freeze'));
const vmName = words(record('data.observer.vmName'));
const isUnaffected = and(not(isKind('test')), not(equals(record('data.affected'), 'true')));
const witness = when(
  isUnaffected,
  when(
    isEmpty(vmName),
    text('The agent does not know the name of its VM yet, so whether the event names it is open.'),
    when(
      equals(record('data.affected'), 'false'),
      concat(text('The event does not name '), vmName, text(', which only saw it.')),
      text(''),
    ),
  ),
  text(''),
);

const isInitial = equals(record('data.initial'), 'true');
const onset = when(
  isInitial,
  when(
    and(read('isUnderWay'), not(read('isOnsetKnown'))),
    text(
      'It was already in progress when the agent began: when it was announced and when it started is not known.',
    ),
    text('It was already announced when the agent began: since when is not known.'),
  ),
  text(''),
);

/** Texts that may come from outside, in the order of the card; each goes through the escaping. */
const lines = {
  title,
  what,
  description: azureSays,
  inference: words(wordOf('inferences', words(record('data.reason')))),
  ongoing: when(and(isKind('started'), isFreeze), text(freezeRemark), text('')),
  onset,
  witness,
  test: when(isKind('test'), text(testRemark), text('')),
} as const;

/** The texts, as the inputs of an action that composes them. */
export const lineInputs = Object.values(lines).map(evaluated);

const line = (name: keyof typeof lines): Expression =>
  `body('Harmless_lines')?[${Object.keys(lines).indexOf(name)}]`;

const local = (before: string, iso: Expression): Expression =>
  // No space within the brackets: a strict reader would show the text as it stands here.
  when(
    isEmpty(iso),
    text(''),
    concat(text(`, ${before} {{DATE(`), iso, text(',SHORT)}} {{TIME('), iso, text(')}}')),
  );

const isFinished = and(isKind('completed'), not(read('isDoubtful')));
const isUpdatedUnderWay = and(isKind('updated'), read('isUnderWay'));
const isAhead = and(isKind('scheduled', 'updated'), not(read('isUnderWay')));
const hasStart = or(isKind('started', 'completed'), isUpdatedUnderWay);

/** The phrases of the lead, as the inputs of the action `Times`: each empty where it does not apply. */
export const timeInputs = {
  ahead: evaluated(when(isAhead, local('not before', read('dueIso')))),
  due: evaluated(when(isKind('canceled'), local('was due', read('dueIso')))),
  started: evaluated(when(and(hasStart, read('isOnsetKnown')), local('started', read('begunIso')))),
  underWay: evaluated(
    when(and(hasStart, not(read('isOnsetKnown'))), local('first seen in progress', read('begunIso'))),
  ),
  finished: evaluated(when(isFinished, local('finished by', read('seenIso')))),
  gone: evaluated(
    when(and(isKind('completed', 'canceled'), not(isFinished)), local('gone by', read('seenIso'))),
  ),
  sent: evaluated(when(isKind('test'), local('sent', read('seenIso')))),
} as const;

const times = concat(...Object.keys(timeInputs).map((name) => outcome('Times', name)));

const lead = concat(
  line('what'),
  when(isEmpty(times), text(', start time not given'), concat(times, text(' (your time)'))),
);

const isAlarming = and(
  equals(record('severitytext'), text('ERROR')),
  isKind('scheduled', 'updated', 'started'),
);
const color = when(isAlarming, text('Attention'), wordOf('colors', read('kind')));

const block = (value: Expression, style: Readonly<Record<string, unknown>>) => ({
  type: 'TextBlock',
  text: evaluated(value),
  ...style,
  wrap: true,
});

/** The blocks; one whose text comes out empty is left out afterwards. */
export const blockInputs = [
  block(line('title'), { weight: 'Bolder', size: 'Medium', color: evaluated(color) }),
  block(lead, { spacing: 'Small' }),
  { type: 'FactSet', facts: "@body('Harmless_facts')" },
  block(line('description'), {}),
  ...(['inference', 'ongoing', 'onset', 'witness', 'test'] as const).map((name) =>
    block(line(name), { isSubtle: true }),
  ),
];

const resourceId = words(record('data.observer.resourceId'));
const isResource = and(
  read('speaksForItself'),
  call('startsWith', call('toLower', resourceId), text('/subscriptions/')),
  call('less', call('length', resourceId), '1025'),
);

/** The VM in the Azure portal; empty where the record does not say which one that is. */
export const portalUrl: Expression = when(
  isResource,
  concat(
    text('https://portal.azure.com/#resource'),
    call('replace', call('uriComponent', resourceId), text('%2F'), text('/')),
    text('/overview'),
  ),
);

/** The card without its link. Source: learn.microsoft.com, "Create incoming webhooks with Workflows for Microsoft Teams". */
export const cardInputs = {
  $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
  type: 'AdaptiveCard',
  // The highest version that Teams shows on desktops, on the web and on phones.
  version: '1.4',
  msteams: { width: 'Full' },
  body: "@body('Blocks_that_say_something')",
};

/** The message, with the link where there is one. */
export const messageInputs = {
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: evaluated(
        when(
          isEmpty("outputs('Portal')?['url']"),
          "outputs('Card')",
          call('setProperty', "outputs('Card')", text('actions'), call('createArray', "outputs('Portal')")),
        ),
      ),
    },
  ],
};

export const portalInputs = {
  type: 'Action.OpenUrl',
  title: 'Open in Azure portal',
  url: evaluated(portalUrl),
};
