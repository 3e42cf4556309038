// The outbox on a real file: one commit, one order per sink, limits, and no fact said twice.
import { expect, test } from 'vitest';
import { emptyWatch } from '../../src/core/watch.ts';
import { discardDeliveries, openOutboxForCare } from '../../src/delivery/outbox/care.ts';
import { affectedFilter } from '../../src/sinks/sink.ts';
import { announce, announcement, attempt, dataRules, day, openOutbox } from '../support/outboxes.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const delivered = { status: 'delivered' } as const;
const busy = { status: 'retryable', reason: 'http-503' } as const;

test('what was committed is there after the file is opened again: the watch, the numbers, the deliveries', () => {
  using directory = temporaryDirectory();
  {
    using first = openOutbox(directory.path, ['a']);
    announce(first.outbox, 2);
  }
  using second = openOutbox(directory.path, ['a']);
  const watch = second.outbox.watch();
  expect(watch.ok && Object.keys(watch.value?.sightings ?? {}).length).toBe(1);
  const [third] = announce(second.outbox);
  expect(third?.sequence).toBe('00000000000000000003');
  expect([1, 2, 3].map(() => attempt(second.outbox, 'a', delivered, second.clock.now()))).toEqual([1, 2, 3]);
});

test('one installation keeps one name', () => {
  using directory = temporaryDirectory();
  const names = [1, 2].map(() => {
    using open = openOutbox(directory.path, ['a']);
    return announce(open.outbox).map(
      ({ id, data }) => [id, data as { agent: { instanceId: string } }] as const,
    );
  });
  const instances = names.flat().map(([, { agent }]) => agent.instanceId);
  expect(instances[0]).toMatch(/^[0-9a-f-]{36}$/);
  expect(instances[1]).toBe(instances[0]);
});

test('a commit that fails in the middle leaves nothing behind, and uses up no number', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  const { watch, draft } = announcement();
  const broken = {
    ...draft,
    factId: 'other',
    make: () => {
      throw new TypeError('a bug');
    },
  };
  expect(() => open.outbox.commit(watch, [draft, broken])).toThrow('a bug');
  const after = open.outbox.watch();
  expect(after).toEqual({ ok: true, value: null });
  expect(open.outbox.next('a', dataRules)).toEqual({ status: 'wait', until: null });
  expect(announce(open.outbox)[0]?.sequence).toBe('00000000000000000001');
});

test('each sink gets its records in order, and none waits for another', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['slow', 'quick']);
  announce(open.outbox, 3);
  const now = open.clock.now();
  expect(attempt(open.outbox, 'slow', busy, now)).toBe(1);
  expect([1, 2, 3].map(() => attempt(open.outbox, 'quick', delivered, now))).toEqual([1, 2, 3]);
  // The head of the slow one backs off: nothing overtakes it.
  expect(open.outbox.next('slow', dataRules)).toEqual({ status: 'wait', until: now + 500 });
  open.clock.advance(500);
  expect([1, 2, 3].map(() => attempt(open.outbox, 'slow', delivered, now))).toEqual([1, 2, 3]);
});

test('a record of short notice goes past backoff, pause and suspension, once', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  announce(open.outbox, 2);
  const now = open.clock.now();
  attempt(open.outbox, 'a', { status: 'unavailable', reason: 'unauthorized' }, now);
  expect(open.outbox.next('a', dataRules)).toEqual({ status: 'wait', until: now + 900_000 });
  announce(open.outbox, 1, true);
  expect(attempt(open.outbox, 'a', busy, now)).toBe(3);
  expect(open.outbox.next('a', dataRules).status).toBe('wait');
});

test('a suspended sink keeps its queue, is probed with its head, and goes on when that is taken', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  announce(open.outbox, 2);
  attempt(open.outbox, 'a', { status: 'unavailable', reason: 'unauthorized' }, open.clock.now());
  const queues = open.outbox.queues();
  expect(queues.ok && queues.value['a']).toMatchObject({
    pending: 2,
    rest: { state: 'suspended', reason: 'unauthorized' },
  });
  open.clock.advance(900_000);
  expect([1, 2].map(() => attempt(open.outbox, 'a', delivered, open.clock.now()))).toEqual([1, 2]);
});

test('a suspended sink rests even when the record it was suspended over is gone', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  const [first] = announce(open.outbox, 2);
  const now = open.clock.now();
  attempt(open.outbox, 'a', { status: 'unavailable', reason: 'unauthorized' }, now);
  using database = openOutboxForCare(directory.path);
  if (database !== null) discardDeliveries(database, { ids: [first?.id ?? ''] }, now);
  expect(open.outbox.next('a', dataRules)).toEqual({ status: 'wait', until: now + 900_000 });
});

test('Retry-After rests the whole sink, not only the record it was said about', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  announce(open.outbox, 1);
  attempt(open.outbox, 'a', { ...busy, retryAfterMs: 60_000 }, open.clock.now());
  announce(open.outbox, 1);
  const next = open.outbox.next('a', dataRules);
  expect(next.status === 'wait' && (next.until ?? 0) >= open.clock.now() + 60_000).toBe(true);
});

test('a rejected record dies alone: the next one is tried at once', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  announce(open.outbox, 2);
  expect(attempt(open.outbox, 'a', { status: 'rejected', reason: 'http-400' }, open.clock.now())).toBe(1);
  expect(attempt(open.outbox, 'a', delivered, open.clock.now())).toBe(2);
  const queues = open.outbox.queues();
  expect(queues.ok && queues.value['a']).toMatchObject({ pending: 0, dead: 1 });
});

test('a fact that is said again within seven days gets a number, and none after that', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  const say = (): string | undefined => {
    const { watch, draft } = announcement({ eventId: 'AAAA' });
    const committed = open.outbox.commit(watch, [draft]);
    return committed.ok ? committed.value[0]?.id : undefined;
  };
  const first = say();
  expect(first).toMatch(/^aaaa_scheduled_[0-9a-f]{12}$/);
  expect([say(), say()]).toEqual([`${first}_2`, `${first}_3`]);
  open.clock.advance(7 * day + 1);
  open.outbox.prune();
  expect(say()).toBe(first);
});

test('a sink that is new gets no history, and what waited for one that is gone is dead, not lost', () => {
  using directory = temporaryDirectory();
  {
    using before = openOutbox(directory.path, ['old']);
    announce(before.outbox, 2);
  }
  using after = openOutbox(directory.path, ['new']);
  expect(after.outbox.next('new', dataRules)).toEqual({ status: 'wait', until: null });
  using again = openOutbox(directory.path, ['old', 'new']);
  const queues = again.outbox.queues();
  expect(queues.ok && queues.value['old']).toMatchObject({ pending: 0, dead: 2 });
});

test('a sink gets only what its filter takes', () => {
  using directory = temporaryDirectory();
  const routes = [{ name: 'named', filter: affectedFilter }];
  using open = openOutbox(directory.path, [], { routes });
  const other = announcement({ resources: ['somebody-else'] });
  open.outbox.commit(other.watch, [other.draft]);
  expect(open.outbox.next('named', dataRules)).toEqual({ status: 'wait', until: null });
  announce(open.outbox);
  expect(open.outbox.next('named', dataRules)).toMatchObject({
    status: 'due',
    due: [{ delivery: { sequence: 2 } }],
  });
});

test('a commit without news still moves the watch', () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a']);
  open.outbox.commit({ ...emptyWatch('boot'), incarnation: '9' }, []);
  const watch = open.outbox.watch();
  expect(watch.ok && watch.value?.incarnation).toBe('9');
});
