// The approver step by step: what it waits for, what it never does without the disk, and what it forgets.
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ApproverRuntime, openApprover } from '../../src/agent/approval/approver.ts';
import { noteOf } from '../../src/agent/approval/notes.ts';
import type { Consequence } from '../../src/agent/reaction.ts';
import type { Preparation } from '../../src/agent/reactions.ts';
import type { Clock } from '../../src/clock.ts';
import { decideApproval } from '../../src/core/approval.ts';
import type { ApprovalAnswer } from '../../src/core/approval-attempt.ts';
import type { ApprovalData } from '../../src/core/deed.ts';
import { unknownObserver } from '../../src/core/observer.ts';
import { emptyWatch, observe, type Watch } from '../../src/core/watch.ts';
import { openJournal } from '../../src/delivery/journal.ts';
import { silentMeters } from '../../src/delivery/meters.ts';
import type { Stored } from '../../src/delivery/outbox/guarded-storage.ts';
import { openWake } from '../../src/delivery/wake.ts';
import { approvalsAmong } from '../support/approvals.ts';
import { announcement, day, openOutbox } from '../support/outboxes.ts';
import { sampleEvent, sampleObserver } from '../support/records.ts';
import { agentSettings } from '../support/sink-kinds.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const key = 'c7061bac-afdc-4513-b24b-aa5f13a16123';
const event = sampleEvent({
  eventId: key.toUpperCase(),
  resources: ['WestNO_0'],
  notBefore: '2026-12-10T00:00:00Z',
});

/** What is remembered once the event was seen, or with `partial` after a document that may hide it. */
function seen({ partial = false } = {}): Watch {
  const moment = { now: Date.UTC(2026, 10, 20), pollGapMs: 1_000, bootId: 'boot', firstSinceStart: false };
  const first = observe(emptyWatch('boot'), { incarnation: '2', events: [event], partial: false }, moment);
  return partial
    ? observe(first.watch, { incarnation: '3', events: [], partial }, moment).watch
    : first.watch;
}

/** An approver with a real outbox, and everything else as the test says. */
function world(
  approval: object = {},
  answers: readonly ApprovalAnswer[] = [],
  sleeping: Partial<Clock> = {},
) {
  const directory = temporaryDirectory();
  const open = openOutbox(directory.path, ['hub']);
  const { outbox, clock, log } = open;
  const posted: string[] = [];
  const said: ApprovalData[] = [];
  const state = {
    preparation: 'none' as Preparation,
    isWritable: true,
    isReadable: true,
    observer: sampleObserver,
  };
  const meters = {
    ...silentMeters,
    records: (records: Parameters<typeof approvalsAmong>[0]) => void said.push(...approvalsAmong(records)),
  };
  const real = openJournal(outbox, meters, log);
  const journal = {
    ...real,
    commitFirst: (...args: Parameters<typeof real.commitFirst>) =>
      state.isWritable && real.commitFirst(...args),
  };
  const unreadable: Stored<never> = { ok: false, fault: 'unavailable' };
  const reading = {
    version: () => outbox.version(),
    notes: (prefix: string) => outbox.notes(prefix),
    sinksWithout: (...args: Parameters<typeof outbox.sinksWithout>) =>
      state.isReadable ? outbox.sinksWithout(...args) : unreadable,
  };
  const stopping = new AbortController();
  const runtime = {
    settings: agentSettings.parse({
      approval: { enabled: true, rules: [{ action: 'afterHooks' }], ...approval },
    }),
    imds: {
      approve: async (eventId: string) => {
        posted.push(eventId);
        return answers[posted.length - 1] ?? { status: 'accepted', code: 200 };
      },
    },
    outbox: reading,
    journal,
    observer: { current: () => state.observer },
    wake: openWake(),
    ...{ clock: { ...clock, ...sleeping }, log, dataSinks: ['hub', 'other'], signal: stopping.signal },
    approved: (_: string, { drafts, notes }: Consequence) => void journal.commit(null, drafts, notes),
    preparationOf: () => state.preparation,
  } as unknown as ApproverRuntime;
  const approver = openApprover(runtime);
  return {
    ...{ approver, clock, log, outbox, posted, said, state, journal },
    /** One poll later, with all that came of it. */
    act: async (watch: Watch) => {
      clock.advance(1_000);
      approver.act(watch, clock.now());
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    },
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await approver[Symbol.asyncDispose]();
      open[Symbol.dispose]();
      directory[Symbol.dispose]();
    },
  };
}

it('waits for the hooks of the event, and approves once they have succeeded', async () => {
  await using here = world();
  here.state.preparation = 'pending';
  for (let poll = 0; poll < 5; poll += 1) await here.act(seen());
  expect([here.posted, here.said]).toEqual([[], []]);
  here.state.preparation = 'succeeded';
  for (let poll = 0; poll < 5; poll += 1) await here.act(seen());
  expect(here.posted).toEqual([event.eventId]);
  expect(here.said).toMatchObject([{ decision: 'approved', rule: { place: 1, action: 'afterHooks' } }]);
});

it('refuses once when a hook has failed, and approves if it is made good', async () => {
  await using here = world();
  here.state.preparation = 'failed';
  for (let poll = 0; poll < 5; poll += 1) await here.act(seen());
  expect(here.posted).toEqual([]);
  expect(here.said).toMatchObject([{ decision: 'refused', reason: 'prepare-failed' }]);
  here.state.preparation = 'succeeded';
  await here.act(seen());
  expect(here.said.map(({ decision }) => decision)).toEqual(['refused', 'approved']);
});

it('sends nothing that is not written down', async () => {
  await using here = world();
  here.state.isWritable = false;
  for (let poll = 0; poll < 5; poll += 1) await here.act(seen());
  expect(here.posted).toEqual([]);
  here.state.isWritable = true;
  await here.act(seen());
  expect(here.posted).toEqual([event.eventId]);
});

it('does not even go on with what was decided while the name of this VM is not known: the disk may be a copy', async () => {
  await using here = world();
  const actor = { kind: 'agent', name: 'WestNO_0' } as const;
  const rule = { place: 1, action: 'afterHooks' } as const;
  const note = { state: 'sending', at: 0, actor, rule, elected: 'alone', undelivered: [], event } as const;
  here.journal.commit(null, [], noteOf(key, note));
  here.state.observer = unknownObserver;
  for (let poll = 0; poll < 5; poll += 1) await here.act(seen());
  expect([here.posted, here.said]).toEqual([[], []]);
  here.state.observer = sampleObserver;
  await here.act(seen());
  expect(here.said).toMatchObject([{ decision: 'approved', elected: 'alone' }]);
});

it('does not go on with what an earlier run decided where the rules say otherwise now', async () => {
  await using here = world({ rules: [{ action: 'never' }] });
  const actor = { kind: 'agent', name: 'WestNO_0' } as const;
  const rule = { place: 1, action: 'approve' } as const;
  const note = { state: 'sending', at: 0, actor, rule, elected: 'alone', undelivered: [], event } as const;
  here.journal.commit(null, [], noteOf(key, note));
  for (let poll = 0; poll < 5; poll += 1) await here.act(seen());
  expect(here.posted).toEqual([]);
  expect(here.said.map(({ decision, reason }) => [decision, reason])).toEqual([
    ['failed', 'gone'],
    ['refused', 'never'],
  ]);
});

it('counts an outbox that cannot be read as nothing delivered, and names every data sink', async () => {
  await using here = world({ deliveryTimeout: '10s' });
  here.state.isReadable = false;
  for (let poll = 0; poll < 9; poll += 1) await here.act(seen());
  expect(here.posted).toEqual([]);
  await here.act(seen());
  expect(here.said).toMatchObject([{ decision: 'approved', undelivered: ['hub', 'other'] }]);
});

it('gives the record of a change as much time as the first one had', async () => {
  await using here = world({ deliveryTimeout: '10s' });
  here.state.isReadable = false;
  const first = seen();
  here.clock.advance(60_000);
  const changed = { incarnation: '3', events: [{ ...event, description: 'another' }], partial: false };
  const moment = { now: here.clock.now(), pollGapMs: 1_000, bootId: 'boot', firstSinceStart: false };
  const { watch } = observe(first, changed, moment);
  for (let poll = 0; poll < 9; poll += 1) await here.act(watch);
  expect(here.posted).toEqual([]);
  await here.act(watch);
  expect(here.posted).toEqual([event.eventId]);
});

it('waits until the sink has the record of the event', async () => {
  await using here = world();
  const { watch, draft } = announcement({ ...event });
  here.outbox.commit(watch, [draft]);
  for (let poll = 0; poll < 5; poll += 1) await here.act(seen());
  expect(here.posted).toEqual([]);
  const next = here.outbox.next('hub', { policy: (await import('../../src/core/delivery.ts')).dataPolicy });
  if (next.status !== 'due' || next.due[0] === undefined) throw new Error('the record waits');
  here.outbox.settle([{ delivery: next.due[0].delivery, verdict: { state: 'delivered' }, attempted: true }]);
  await here.act(seen());
  expect(here.said).toMatchObject([{ decision: 'approved', undelivered: [] }]);
});

it('decides nothing about an event that a partial document may hide', async () => {
  await using here = world();
  for (let poll = 0; poll < 5; poll += 1) await here.act(seen({ partial: true }));
  expect([here.posted, here.said]).toEqual([[], []]);
});

it('tells an approval once, however often it looks', async () => {
  await using here = world();
  for (let poll = 0; poll < 9; poll += 1) await here.act(seen());
  expect([here.posted.length, here.said.length]).toEqual([1, 1]);
});

it('leaves to a person what the person is sending, and decides by its rules all the same', async () => {
  await using here = world();
  const person = { kind: 'person', name: 'alice' } as const;
  const sending = {
    state: 'sending',
    at: 0,
    actor: person,
    rule: null,
    elected: 'person',
    undelivered: [],
    event,
  } as const;
  here.journal.commit(null, [], noteOf(key, sending));
  here.journal.commit(null, [], noteOf('another', sending));
  await here.act(seen());
  expect(here.said).toMatchObject([{ actor: { kind: 'agent' }, elected: 'alone' }]);
});

it('forgets an event a day after it was decided, once it is gone', async () => {
  await using here = world();
  await here.act(seen());
  const notes = () => {
    const found = here.outbox.notes('deed/approval/');
    return found.ok ? [...found.value.keys()] : null;
  };
  here.clock.advance(2 * day);
  await here.act(seen());
  expect(notes()).toEqual([`deed/approval/${key}`]);
  await here.act(emptyWatch('boot'));
  expect(notes()).toEqual([]);
  expect(here.posted).toHaveLength(1);
});

it('does not forget it before, so that an event that flickers is not approved again', async () => {
  await using here = world();
  await here.act(seen());
  await here.act(emptyWatch('boot'));
  await here.act(seen());
  expect(here.posted).toHaveLength(1);
});

/** What an event may turn into from one document to the next; null: it is not there. */
const turns = [
  {},
  { resources: ['WestNO_0', 'WestNO_1'] },
  { resources: ['WestNO_1', '_westno_0'] },
  { resources: ['WestNO_1'] },
  { resources: ['WestNO_1', 'WestNO_2', 'WestNO_0'] },
  { eventType: 'Terminate', resources: ['WestNO_0', 'WestNO_1'] },
  { eventSource: 'User' },
  { eventStatus: 'Started', notBefore: null },
  { durationSeconds: 600 },
  null,
] as const;
const answers: readonly ApprovalAnswer[] = [
  { status: 'accepted', code: 200 },
  { status: 'throttled', code: 503, retryAfterMs: null },
  { status: 'failed', code: null, reason: 'breaks the connection' },
  { status: 'refused', code: 400, detail: '' },
];

it('sends nothing that the last two documents do not let it, whatever they turn into and whatever is answered', async () => {
  const rules = [
    { match: { sources: ['User'] }, action: 'never' },
    { match: { maxDuration: '9s' }, action: 'approve' },
  ] as const;
  const policy = { rules: [rules[0], { ...rules[1], match: { maxDuration: 9_000 } }], deliveryTimeout: 0 };
  let sent = 0;
  const property = fc.asyncProperty(
    fc.array(fc.constantFrom(...turns), { minLength: 4, maxLength: 20 }),
    fc.array(fc.constantFrom(...answers), { minLength: 9, maxLength: 9 }),
    async (documents, answered) => {
      // Every wait lasts until the next document.
      let sleepers: (() => void)[] = [];
      const sleep: Clock['sleep'] = (_, signal) =>
        new Promise((resolve) => {
          sleepers.push(resolve);
          if (signal.aborted) resolve();
          signal.addEventListener('abort', () => resolve());
        });
      const settings = { rules, deliveryTimeout: '0ms', secondAfter: '1s' };
      await using here = world(settings, answered, { sleep });
      const mayBeSent = (turn: (typeof turns)[number]): boolean => {
        // An event that has begun may have done so by an approval whose answer is awaited.
        if (turn === null || 'eventStatus' in turn) return turn !== null;
        const subject = { event: { ...event, ...turn }, notBefore: null, firstSeenAt: 0, vmName: 'WestNO_0' };
        const circumstances = { approved: false, preparation: 'none', undelivered: [] } as const;
        const decided = decideApproval(
          { ...subject, ...circumstances },
          { ...policy, secondAfter: 1_000 },
          9_999,
        );
        return decided.status === 'approve';
      };
      let watch = emptyWatch('boot');
      let before: (typeof turns)[number] = null;
      for (const turn of documents) {
        const moment = { now: here.clock.now(), pollGapMs: 1_000, bootId: 'boot', firstSinceStart: false };
        const events = turn === null ? [] : [{ ...event, ...turn }];
        ({ watch } = observe(watch, { incarnation: '2', events, partial: false }, moment));
        const sofar = here.posted.length;
        const waking = sleepers;
        sleepers = [];
        for (const wake of waking) wake();
        await here.act(watch);
        await setImmediate();
        if (here.posted.length > sofar) expect([turn, before].some(mayBeSent)).toBe(true);
        before = turn;
      }
      sent += here.posted.length;
      const taken = here.said.filter(({ decision }) => decision === 'approved');
      expect(taken.length).toBeLessThanOrEqual(here.posted.length);
    },
  );
  await fc.assert(property, { numRuns: 60 });
  expect(sent).toBeGreaterThan(20);
});
