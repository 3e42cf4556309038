// Whatever IMDS might say, drawn at random: for properties that must hold for every document.
import fc, { type Arbitrary } from 'fast-check';
import { fixtureNames, fixtureText, freeze, type WireEvent } from './documents.ts';
import type { Step } from './story.ts';

// Few ids, so that documents share events; some in two spellings; some that are the names of what every object has.
const eventIds = [
  'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
  'c7061bac-afdc-4513-b24b-aa5f13a16123',
  '4CAEA225-A741-474D-A72E-428C86FCD853',
  '__proto__',
  'constructor',
  '123',
  'a.b_c/d',
];

const times = [
  'Tue, 10 Nov 2026 22:26:58 GMT',
  'Tue, 10 Nov 2026 22:36:58 GMT',
  '2026-11-10T22:26:58Z',
  '',
  'soon',
];

/** A text like those of the wire, now and then any text at all. */
const oneOf = (texts: readonly string[]): Arbitrary<string> =>
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...texts) }, { weight: 1, arbitrary: fc.string() });

const rarely = <Value>(usual: Arbitrary<Value>): Arbitrary<unknown> =>
  fc.oneof({ weight: 15, arbitrary: usual }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) });

/** One entry of `Events`: most often in order, with any field missing or of any type. */
export const wireEvent = (): Arbitrary<WireEvent> =>
  fc.record(
    {
      EventId: rarely(oneOf(eventIds)),
      EventStatus: rarely(oneOf(['Scheduled', 'Scheduled', 'Started', 'Completed', 'Canceled', 'started'])),
      EventType: rarely(oneOf(['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate', 'Pause'])),
      ResourceType: rarely(fc.constant('VirtualMachine')),
      Resources: rarely(fc.array(oneOf(['WestNO_0', 'WestNO_1', '_web1']), { maxLength: 3 })),
      NotBefore: rarely(oneOf(times)),
      Description: rarely(oneOf(['', 'Host server is undergoing maintenance.'])),
      EventSource: rarely(oneOf(['Platform', 'User'])),
      DurationInSeconds: rarely(fc.constantFrom<unknown>(-1, 0, 5, 9, 30, '5')),
    },
    { requiredKeys: ['EventId'] },
  );

/** The entries of one document. */
export const wireEvents = (): Arbitrary<readonly WireEvent[]> => fc.array(wireEvent(), { maxLength: 6 });

/** The same list in two orders. */
export const shuffledTwice = <Item>(lists: Arbitrary<readonly Item[]>): Arbitrary<[Item[], Item[]]> =>
  lists.chain((list) => {
    const order = fc.shuffledSubarray([...list], { minLength: list.length });
    return fc.tuple(order, order);
  });

/** The text of a document. */
export const wireBodies = (): Arbitrary<string> =>
  fc
    .record({ DocumentIncarnation: rarely(fc.nat({ max: 9 })), Events: rarely(wireEvents()) })
    .map((document) => JSON.stringify(document));

/** Bodies that nobody would send: any text, any JSON, and real documents with pieces torn out or put in. */
export const hostileBodies = (): Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc
      .jsonValue()
      .map((value) => JSON.stringify({ DocumentIncarnation: value, Events: [value, { EventId: value }] })),
    wireBodies(),
    mutatedFixtures(),
  );

function mutatedFixtures(): Arbitrary<string> {
  const texts = fixtureNames().map(fixtureText);
  const cut = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.nat({ max: 20 }) });
  const wounds = fc.array(fc.tuple(cut, fc.string({ maxLength: 4 })), { minLength: 1, maxLength: 4 });
  return fc.tuple(fc.constantFrom(...texts), wounds).map(([text, list]) =>
    list.reduce((torn, [{ at, length }, put]) => {
      const start = Math.floor(at * torn.length);
      return torn.slice(0, start) + put + torn.slice(start + length);
    }, text),
  );
}

/** How many documents show an event as not there yet, scheduled, and started, before it is gone for good. */
const life = fc
  .record({ absent: fc.nat({ max: 4 }), scheduled: fc.nat({ max: 4 }), started: fc.nat({ max: 3 }) })
  .filter(({ scheduled, started }) => scheduled + started > 0);

type Life = typeof life extends Arbitrary<infer Value> ? Value : never;

/** The circumstances of one document. */
const circumstance = fc.record({
  restart: fc.boolean(),
  torn: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  incarnation: fc.nat({ max: 5 }),
  afterMs: fc.constantFrom(1000, 1000, 1000, 4000, 11_000, 120_000),
  lowerCase: fc.boolean(),
  turned: fc.boolean(),
});

type Circumstance = typeof circumstance extends Arbitrary<infer Value> ? Value : never;

const stepsMax = 14;

/** A walk of documents through the lives of a few events, none of which comes back, until all are gone. */
export const walks = (): Arbitrary<readonly Step[]> =>
  fc
    .tuple(
      fc.array(life, { minLength: 1, maxLength: 4 }),
      fc.array(circumstance, { minLength: stepsMax, maxLength: stepsMax }),
    )
    .map(([lives, circumstances]) => [
      ...circumstances.map((around, index) => stepOf(lives, around, index)),
      { events: [] },
      { events: [] },
      { events: [] },
    ]);

function stepOf(lives: readonly Life[], around: Circumstance, index: number): Step {
  const { torn, turned, lowerCase, ...step } = around;
  const entries = lives.flatMap((each, number) => entryOf(each, number, index, lowerCase));
  const events = turned ? entries.toReversed() : entries;
  return { ...step, events: torn ? [...events.slice(1), { EventType: 'Freeze' }] : events };
}

function entryOf({ absent, scheduled, started }: Life, number: number, index: number, lower: boolean) {
  const age = index - absent;
  if (age < 0 || age >= scheduled + started) return [];
  const EventId = `E-${number}`;
  const EventStatus = age < scheduled ? 'Scheduled' : 'Started';
  const NotBefore = age < scheduled ? `Tue, 10 Nov 2026 22:1${2 + number}:00 GMT` : '';
  const DurationInSeconds = age === 1 ? 9 : 5;
  return [
    {
      ...freeze,
      EventId: lower ? EventId.toLowerCase() : EventId,
      EventStatus,
      NotBefore,
      DurationInSeconds,
    },
  ];
}
