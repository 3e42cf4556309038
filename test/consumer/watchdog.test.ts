// When a connection is doubted: told by what the hub says and where the partitions stand.
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { HubDescription } from '../../src/consumer/hub.ts';
import type { PartitionFeed } from '../../src/consumer/partition-feed.ts';
import { openProgress } from '../../src/consumer/progress.ts';
import { type Doubt, watchReading } from '../../src/consumer/watchdog.ts';

const hub: HubDescription = { namespace: 'ns', name: 'fleet', createdAt: 1, partitions: ['0'] };

interface Look {
  readonly hub?: HubDescription;
  readonly last?: number;
  readonly at?: number;
  readonly busy?: boolean;
  readonly surplus?: number;
  readonly error?: unknown;
}

/** What the watchdog makes of a course of looks; after the last one the session ends by itself. */
async function doubtIn(
  looks: readonly Look[],
  onRefuse: (why: Error) => void = () => undefined,
): Promise<Doubt | null> {
  const over = new AbortController();
  let look: Look = {};
  let passed = 0;
  // Time passes at once.
  const clock: Clock = {
    ...systemClock,
    sleep: async () => {
      look = looks[passed] ?? {};
      if (passed++ === looks.length) over.abort();
    },
  };
  const feed: PartitionFeed = {
    partition: '0',
    stream: 'ns/fleet/0/epoch',
    position: () => ({ size: 1, lastSequenceNumber: look.at ?? 0 }),
    busy: () => look.busy ?? false,
    isRefused: () => false,
    refuse: onRefuse,
    creditSurplus: () => look.surplus ?? 0,
    take: async () => undefined,
    settled: async () => undefined,
  };
  const connection = {
    describe: async () => {
      if (look.error !== undefined) throw look.error;
      return look.hub ?? hub;
    },
    lastSequenceNumber: async () => look.last ?? 0,
    read: () => undefined,
    share: () => undefined,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const reading = { feeds: () => [feed], restart: () => false, isStuck: () => false };
  const options = { connection, hub, reading, clock, watchIntervalMs: 1, creditMax: 100 };
  const told = { progress: openProgress(clock), onLook: () => undefined };
  return watchReading({ ...options, ...told, signal: over.signal });
}

test('a partition that keeps up, or catches up, is in no doubt', async () => {
  expect(
    await doubtIn([
      { last: 5, at: 5 },
      { last: 9, at: 5 },
      { last: 20, at: 9 },
      { last: 20, at: 20 },
    ]),
  ).toBeNull();
});

test('a partition that stands behind at the same place twice is stalled', async () => {
  expect(
    await doubtIn([
      { last: 9, at: 5 },
      { last: 9, at: 5 },
    ]),
  ).toEqual({ reason: 'stalled', partition: '0' });
});

test('a batch in hand is no stall and no reason to begin anew', async () => {
  const waiting = { last: 9, at: 5, busy: true, surplus: 1_000 };
  expect(await doubtIn([waiting, waiting, waiting])).toBeNull();
});

test('a hub made anew, or with more partitions, is another hub', async () => {
  expect(await doubtIn([{}, { hub: { ...hub, createdAt: 2 } }])).toEqual({ reason: 'hub-changed' });
  expect(await doubtIn([{ hub: { ...hub, partitions: ['0', '1'] } }])).toEqual({ reason: 'hub-changed' });
});

test('a hub that does not answer is doubted by the name of the fault', async () => {
  const error = Object.assign(new Error('text'), { code: 'OperationTimeoutError' });
  expect(await doubtIn([{}, { error }])).toEqual({ reason: 'silent', fault: 'timeout' });
});

test('a hub that holds less than it once gave is refused, an empty one and one that lags its own events are not', async () => {
  const refusals: string[] = [];
  const refused = async (...looks: Look[]) => {
    expect(await doubtIn(looks, (why) => refusals.push(why.name))).toBeNull();
    return refusals.splice(0);
  };
  expect(await refused({ last: -1, at: 5 }, { last: 5, at: 5 })).toEqual([]);
  expect(await refused({ last: 4, at: 5 })).toEqual(['HubRewound']);
  // The answer was true when it was given: more was stored since.
  let at = 5;
  const look = {
    last: 5,
    get at() {
      return at++;
    },
  };
  expect(await refused(look)).toEqual([]);
});

test('too much credit is a reason to begin anew', async () => {
  expect(await doubtIn([{ surplus: 100 }, { surplus: 101 }])).toEqual({ reason: 'refresh' });
});
