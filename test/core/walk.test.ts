// What holds for any walk of documents, however often the agent is started anew on the way.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventKey, readDocument } from '../../src/core/document.ts';
import { encodeRecord, eventRecord, factId } from '../../src/core/record.ts';
import { emptyWatch, type Observation, observe, type Watch } from '../../src/core/watch.ts';
import { hostileBodies, walks, wireEvents } from '../support/arbitraries.ts';
import { factsOf, provenance, type Step, stamp, tell } from '../support/story.ts';

const observationsOf = (steps: readonly Step[]): Observation[] =>
  tell(steps).flatMap(({ observations }) => [...observations]);

const isEnd = (kind: string): boolean => kind === 'completed' || kind === 'canceled';

test('every event that was seen begins once, and ends once, and then is forgotten', () => {
  fc.assert(
    fc.property(walks(), (steps) => {
      const told = Map.groupBy(observationsOf(steps), ({ event }) => eventKey(event.eventId));
      for (const kinds of [...told.values()].map((group) => group.map(({ kind }) => kind))) {
        expect(['scheduled', 'started']).toContain(kinds[0]);
        expect(kinds.slice(1)).not.toContain('scheduled');
        expect(kinds.slice(1).filter((kind) => kind === 'started').length).toBeLessThanOrEqual(1);
        expect(kinds.findIndex(isEnd)).toBe(kinds.length - 1);
      }
      expect(tell(steps).at(-1)?.watch.sightings).toEqual({});
    }),
    { numRuns: 500 },
  );
});

test('restarts at any moments change none of the facts that are said', () => {
  fc.assert(
    fc.property(walks(), (steps) => {
      const unbroken = steps.map((step) => ({ ...step, restart: false }));
      expect(factsOf(tell(steps)).toSorted()).toEqual(factsOf(tell(unbroken)).toSorted());
    }),
    { numRuns: 500 },
  );
});

test('no fact is said twice about an event that does not come back', () => {
  fc.assert(
    fc.property(walks(), (steps) => {
      const facts = factsOf(tell(steps));
      expect(new Set(facts).size).toBe(facts.length);
    }),
    { numRuns: 500 },
  );
});

test('an event is scheduled before it is updated, and ends before it is scheduled again', () => {
  const step = fc.record({
    events: wireEvents(),
    restart: fc.boolean(),
    reboot: fc.boolean(),
    incarnation: fc.nat({ max: 3 }),
    pollGapMs: fc.constantFrom(1000, 60_000, null),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const alive = new Set<string>();
      for (const { event, kind, inferred } of observationsOf([...steps, ...Array(3).fill({ events: [] })])) {
        const key = eventKey(event.eventId);
        if (kind === 'scheduled') expect(alive).not.toContain(key);
        if (kind === 'updated' || inferred) expect(alive).toContain(key);
        if (isEnd(kind)) alive.delete(key);
        else alive.add(key);
      }
      expect([...alive]).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('no input whatsoever makes it throw, and every record it makes is whole', () => {
  fc.assert(
    fc.property(fc.array(hostileBodies(), { maxLength: 6 }), fc.boolean(), (bodies, firstSinceStart) => {
      let watch: Watch = emptyWatch('boot-0');
      for (const body of bodies) {
        const reading = readDocument(body);
        if (reading.status !== 'document') continue;
        const moment = { now: 1_794_348_000_000, pollGapMs: 1000, bootId: 'boot-0', firstSinceStart };
        const observed = observe(watch, reading.document, moment);
        const keys = observed.observations.map(({ event }) => eventKey(event.eventId));
        expect(new Set(keys).size).toBe(keys.length);
        for (const observation of observed.observations) {
          const id = factId(observation.kind, observation.event);
          expect(id).toMatch(/^[a-z0-9_-]{1,124}$/);
          const record = eventRecord(observation, id, stamp, provenance);
          expect(JSON.parse(encodeRecord(record).toString('utf8'))).toMatchObject({ id });
        }
        watch = JSON.parse(JSON.stringify(observed.watch)) as Watch;
      }
    }),
    { numRuns: 500 },
  );
});
