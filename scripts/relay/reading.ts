// What the relay reads from a record before it writes: each step a named value that the run history shows.
import {
  and,
  at,
  atComputed,
  call,
  concat,
  type Expression,
  equals,
  evaluated,
  isEmpty,
  isOneOf,
  not,
  or,
  orElse,
  outcome,
  record,
  text,
  when,
  words,
} from './expression.ts';

/** A value that the action `Reading` has. */
export const read = (name: keyof typeof values): Expression => outcome('Reading', name);

/** Whether the record is of one of these kinds. */
export const isKind = (...kinds: readonly string[]): Expression => isOneOf(read('kind'), ...kinds);

const wordOf = (table: string, name: Expression): Expression => atComputed(outcome('Words', table), name);

const lower = (value: Expression): Expression => call('toLower', value);

/** The names in the event, as the record has them. */
export const resources: Expression = orElse(record('data.event.resources'), call('json', text('[]')));

const hasUnderscore = call('startsWith', 'item()', text('_'));

/** A name without the underscore that api-version 2017-03-01 puts before it. */
export const plainName: Expression = call(
  'substring',
  'item()',
  call('if', hasUnderscore, '1', '0'),
  call('sub', call('length', 'item()'), call('if', hasUnderscore, '1', '0')),
);

const vms = "body('VMs')";
const isAffected = equals(record('data.affected'), 'true');
const vmName = words(record('data.observer.vmName'));
const firstNamed = words(call('first', vms));
const status = lower(words(record('data.event.eventStatus')));
const kind = orElse(wordOf('kinds', record('type')), text('other'));
const isTest = equals(kind, text('test'));
// A record is about the VM that sends it where the event names that VM, and so is a test.
const speaksForItself = and(or(isAffected, isTest), not(isEmpty(vmName)));

/** A point in time of the record as people read it; empty when there is none. */
const moment = (value: Expression, format: string): Expression =>
  // The time of the record stands in for what is missing, because it is computed in any case.
  when(isEmpty(words(value)), text(''), call('formatDateTime', orElse(value, record('time')), text(format)));

const utc = (value: Expression): Expression => {
  const written = moment(value, 'yyyy-MM-dd HH:mm:ss');
  return concat(written, when(isEmpty(words(value)), text(''), text(' UTC')));
};
const iso = (value: Expression): Expression => moment(value, 'yyyy-MM-ddTHH:mm:ssZ');

// What is under way began when it was seen to begin; of what began unseen nothing is said.
const begunAt = when(equals(kind, text('started')), record('time'), record('data.timeline.started'));

const eventType = words(record('data.event.eventType'));
const seconds = call(
  'int',
  call('formatNumber', orElse(record('data.event.durationSeconds'), '0'), text('0')),
);

const values = {
  kind,
  speaksForItself,
  vm: when(speaksForItself, vmName, firstNamed),
  isUnderWay: equals(status, text('started')),
  isDoubtful: equals(record('data.reason'), text('start-not-observed')),
  isInferred: equals(record('data.inferred'), 'true'),
  isOnsetKnown: or(
    not(equals(record('data.initial'), 'true')),
    not(isEmpty(words(record('data.timeline.scheduled')))),
  ),
  eventType,
  impactShort: words(at(wordOf('impacts', lower(eventType)), 'short')),
  impactFull: words(at(wordOf('impacts', lower(eventType)), 'full')),
  // What is deleted does not come back: how long it takes is no question then.
  isFinal: isOneOf(lower(eventType), 'preempt', 'terminate'),
  isLengthKnown: not(equals(record('data.event.durationSeconds'), 'null')),
  seconds,
  due: utc(record('data.event.notBefore')),
  dueIso: iso(record('data.event.notBefore')),
  dueText: words(record('data.event.notBeforeText')),
  seen: utc(record('time')),
  seenIso: iso(record('time')),
  begun: utc(begunAt),
  begunIso: iso(begunAt),
  wasDue: utc(record('data.previous.notBefore')),
} as const;

/** The values, as the inputs of the action `Reading`. */
export const readingInputs: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(values).map(([name, expression]) => [name, evaluated(expression)]),
);

/** Such as `5 s`, `1 min 30 s` or `2 h 5 min`. */
function lengthText(): Expression {
  const whole = read('seconds');
  const part = (large: number, small: number, names: readonly [string, string]): Expression => {
    const rest = call('div', call('mod', whole, String(large)), String(small));
    const tail = when(equals(rest, '0'), text(''), concat(text(' '), call('string', rest), text(names[1])));
    return concat(call('string', call('div', whole, String(large))), text(names[0]), tail);
  };
  return when(
    call('less', whole, '60'),
    concat(call('string', whole), text(' s')),
    when(call('less', whole, '3600'), part(60, 1, [' min', ' s']), part(3600, 60, [' h', ' min'])),
  );
}

const length = when(
  read('isLengthKnown'),
  when(
    equals(record('data.event.durationSeconds'), '0'),
    text('no interruption expected'),
    concat(text('about '), lengthText()),
  ),
  when(read('isFinal'), text(''), text('length unknown')),
);

const typeName = when(isEmpty(read('eventType')), text('Event of unknown type'), read('eventType'));
const phrases = { length, typeName } as const;
const phrase = (name: keyof typeof phrases): Expression => outcome('Phrases', name);

/** What follows from the reading, as the inputs of the action `Phrases`. */
export const phraseInputs: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(phrases).map(([name, expression]) => [name, evaluated(expression)]),
);

const separated = (left: Expression, right: Expression): Expression =>
  concat(left, when(or(isEmpty(left), isEmpty(right)), text(''), text(', ')), right);

// A headline says that the length is unknown only where it has nothing else to say.
const saysLength = or(read('isLengthKnown'), isEmpty(read('impactShort')));
const brackets = separated(read('impactShort'), when(saysLength, phrase('length'), text('')));

/** Such as `Freeze (about 5 s)`. */
export const what: Expression = when(
  equals(read('kind'), text('test')),
  text('Nothing is scheduled'),
  concat(phrase('typeName'), when(isEmpty(brackets), text(''), concat(text(' ('), brackets, text(')')))),
);

const detail = separated(read('impactFull'), phrase('length'));

/** Such as `Freeze: paused, about 5 s`. */
export const impact: Expression = concat(
  phrase('typeName'),
  when(isEmpty(detail), text(''), concat(text(': '), detail)),
);
