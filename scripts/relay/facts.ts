// The facts of the relay's card, in the order and words of the `teams` sink; those that come out empty are left out.
import {
  and,
  call,
  concat,
  type Expression,
  equals,
  evaluated,
  isEmpty,
  joined,
  not,
  or,
  record,
  text,
  when,
  words,
} from './expression.ts';
import { impact, isKind, read } from './reading.ts';

const prefixed = (before: string, value: Expression): Expression =>
  when(isEmpty(value), text(''), concat(text(before), value));

const isTest = isKind('test');
const isEnd = isKind('completed', 'canceled');
const onEvents = (value: Expression): Expression => when(isTest, text(''), value);

/** The event has not begun as far as Azure says. */
const isAhead = and(isKind('scheduled', 'updated'), not(read('isUnderWay')));

const unnamed = text('Not named by Azure');
const vm = when(isEmpty(read('vm')), when(isTest, text(''), unnamed), read('vm'));
const others = "body('Other_VMs')";
const othersCount = call('length', others);
const namesMax = 5;

/** Such as `a, b and 3 more VMs`. */
const otherNames = when(
  call('greater', othersCount, String(namesMax + 1)),
  concat(
    call('join', call('take', others, String(namesMax)), text(', ')),
    text(' and '),
    call('string', call('sub', othersCount, String(namesMax))),
    text(' more VMs'),
  ),
  call('join', others, text(', ')),
);

const notBefore = when(isEmpty(read('due')), read('dueText'), read('due'));

const hasStart = or(isKind('started', 'completed'), and(isKind('updated'), read('isUnderWay')));
const startTitle = when(read('isOnsetKnown'), text('Started'), text('First seen in progress'));
const isFinished = and(isKind('completed'), not(read('isDoubtful')));
const endTitle = when(isFinished, text('Finished by'), text('Gone by'));

const source = words(record('data.event.eventSource'));
const startedBy = when(
  isEmpty(source),
  text('Not said by Azure'),
  when(
    equals(call('toLower', source), text('platform')),
    text('Azure platform'),
    when(equals(call('toLower', source), text('user')), text('A user'), source),
  ),
);

// Whether somebody approved it since it was announced is not in the record.
const isNew = and(isKind('scheduled'), not(equals(record('data.initial'), 'true')));
const approval = concat(
  when(isNew, text('Not approved: starts'), text('Starts')),
  text(' by itself'),
  prefixed(' at or after ', read('due')),
  text(', sooner if approved'),
);

const machine = joined(
  ', ',
  words(record('data.observer.vmSize')),
  prefixed('scale set ', words(record('data.observer.vmScaleSet'))),
  prefixed('fault domain ', words(record('data.observer.faultDomain'))),
);

const place = joined(
  ' / ',
  words(record('data.observer.location')),
  prefixed('zone ', words(record('data.observer.zone'))),
  words(record('data.observer.resourceGroup')),
);

/** Titles and values; a title that is computed begins with `@`. */
const facts: readonly (readonly [string, Expression])[] = [
  ['VM', vm],
  ['Seen by', when(read('speaksForItself'), text(''), words(record('data.observer.vmName')))],
  ['Also named', otherNames],
  ['Changed', when(isKind('updated'), prefixed('not before, was ', read('wasDue')), text(''))],
  ['Impact', onEvents(impact)],
  ['Not before', when(isAhead, notBefore, text(''))],
  ['Was due', when(isKind('canceled'), notBefore, text(''))],
  [evaluated(startTitle), when(hasStart, read('begun'), text(''))],
  [
    evaluated(endTitle),
    when(isEnd, concat(read('seen'), when(read('isInferred'), text(' (inferred)'), text(''))), text('')),
  ],
  ['Sent', when(isTest, read('seen'), text(''))],
  ['Started by', onEvents(startedBy)],
  ['Approval', when(isAhead, approval, text(''))],
  ['Sink', when(isTest, words(record('data.sink')), text(''))],
  ['Agent', when(isTest, prefixed('version ', words(record('data.agent.version'))), text(''))],
  ['Location', place],
  ['Machine', machine],
  ['Event ID', words(record('data.event.eventId'))],
];

/** The facts, as the inputs of an action that composes them. */
export const factInputs = facts.map(([title, value]) => ({ title, value: evaluated(value) }));
