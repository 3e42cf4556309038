// What the teller writes down of what the trail holds: no news is lost, however much there is, and waves count right.
import { expect, test } from 'vitest';
import { noteKeys } from '../../src/consumer/notify/notes.ts';
import { openTeller } from '../../src/consumer/notify/teller.ts';
import { openVmDirectory } from '../../src/consumer/notify/vm-directory.ts';
import { chatPolicy } from '../../src/core/delivery.ts';
import type { RecordFilter } from '../../src/core/filter.ts';
import type { WaveData } from '../../src/core/fleet-record.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { waveLimits } from '../../src/core/wave.ts';
import { Outbox } from '../../src/delivery/outbox/outbox.ts';
import { recordingLog } from '../support/recording-log.ts';
import { asHubEvents, freeze, observerOf, type Saying, saying, synthesisAt } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const [minute, hour] = [60_000, 3_600_000];
const everything = { observer: 'all', sample: 1, records: ['event', 'fleet'] } as const;

/** A teller for one chat, with a clock that the test sets. */
function openChat(directory: string, filter: RecordFilter = everything) {
  const clock = { now: synthesisAt + minute };
  const log = recordingLog();
  const outbox = new Outbox({
    ...{ directory, routes: [{ name: 'ops', filter }], log },
    limits: { sizeMax: 100_000_000, keepDeliveredMs: hour, keepDeadMs: hour },
    clock: { now: () => clock.now, monotonic: () => clock.now, sleep: async () => undefined },
  });
  const teller = openTeller({
    ...{ outbox, sinks: [{ name: 'ops', filter, policy: chatPolicy }], trail: 't', since: 0 },
    ...{ told: new Set(), groupWaitMs: 5_000, directory: openVmDirectory(), now: () => clock.now, log },
    openReader: () => Promise.reject(new Error('no trail to ask')),
  });
  if (teller === null) throw new Error('a teller');
  let size = 0;
  const hear = async (sayings: readonly Saying[]): Promise<void> => {
    const events = asHubEvents(sayings.map(saying), size);
    const bodySha256 = new Uint8Array();
    const entries = events.map((event, at) => ({ ...event, index: size + at, bodySha256 }));
    size += entries.length;
    expect(await teller.take('stream', entries, size)).toBe(true);
  };
  const rowsOf = (sql: string) => {
    const rows = outbox.ask((database) => database.prepare(sql).all());
    if (!rows.ok) throw new Error(rows.fault);
    return rows.value;
  };
  return {
    ...{ clock, teller, hear },
    /** The waves that are queued for the chat, in order. */
    waves: () =>
      rowsOf(
        `SELECT body FROM record JOIN delivery USING (sequence) WHERE sink = 'ops' ORDER BY sequence`,
      ).map(
        ({ body }) =>
          (JSON.parse(Buffer.from(body as Uint8Array).toString()) as BridgeRecord<WaveData>).data.wave,
      ),
    /** The facts that they tell. */
    facts: () =>
      rowsOf(`SELECT value FROM meta WHERE key GLOB '${noteKeys.told}*'`).flatMap(
        ({ value }) => JSON.parse(String(value)) as string[],
      ),
    [Symbol.dispose]: () => outbox[Symbol.dispose](),
  };
}

const inGroup = (group: number, subscription = 's') =>
  `/subscriptions/${subscription}/resourceGroups/rg-${group}/providers/x/y`;

/** That one VM tells of an event of one VM. */
const telling = (event: number, change: Partial<Saying> = {}): Saying => ({
  ...{ kind: 'scheduled', event: freeze(event, { resources: [`web-${event}`] }) },
  ...change,
});

test('news of more places at once than are remembered is told all the same, each once', async () => {
  using directory = temporaryDirectory();
  using chat = openChat(directory.path);
  const places = Array.from({ length: waveLimits.waves + 50 }, (_, place) => place);
  await chat.hear(
    places.map((place) => telling(place, { observer: { ...observerOf(place), resourceId: inGroup(place) } })),
  );
  chat.clock.now += 5_000;
  expect(chat.teller.tellDue()).toBe(true);
  expect(new Set(chat.waves().map(({ id }) => id)).size).toBe(places.length);
  expect(chat.facts()).toHaveLength(places.length);
  expect(new Set(chat.facts()).size).toBe(places.length);
  expect(chat.teller.dueAt()).toBe(Number.POSITIVE_INFINITY);
});

test('a chat that does not want to hear of an end counts it all the same, when it hears of something else', async () => {
  using directory = temporaryDirectory();
  using chat = openChat(directory.path, { ...everything, transitions: ['scheduled'] });
  await chat.hear([telling(0)]);
  chat.clock.now += 5_000;
  chat.teller.tellDue();
  const gone = { kind: 'canceled', reason: 'removed-before-not-before', after: 1_000 } as const;
  await chat.hear([telling(0, gone)]);
  expect(chat.teller.dueAt()).toBe(Number.POSITIVE_INFINITY);
  await chat.hear([telling(1, { after: 2_000 })]);
  chat.clock.now += 5_000;
  chat.teller.tellDue();
  expect(chat.waves().map(({ counts }) => [counts.scheduled, counts.canceled])).toEqual([
    [1, 0],
    [1, 1],
  ]);
});

test('scale sets of one name in two subscriptions make two waves, also by VMs that never spoke', async () => {
  using directory = temporaryDirectory();
  using chat = openChat(directory.path);
  const witness = (subscription: string) => ({ ...observerOf(7), resourceId: inGroup(1, subscription) });
  await chat.hear([
    telling(0, { observer: witness('one') }),
    telling(1, { observer: witness('other') }),
    telling(2, { observer: witness('one') }),
    // It spoke itself, and belongs with its silent neighbours.
    telling(3, { observer: { ...observerOf(3), resourceId: inGroup(1, 'one') } }),
  ]);
  chat.clock.now += 5_000;
  chat.teller.tellDue();
  const told = chat.waves().map(({ scope, vms }) => [scope?.subscriptionId, vms.map(({ name }) => name)]);
  expect(told).toEqual([
    ['one', ['web-0', 'web-2', 'web-3']],
    ['other', ['web-1']],
  ]);
});

test('news does not wait longer because the clock was set back', async () => {
  using directory = temporaryDirectory();
  using chat = openChat(directory.path);
  await chat.hear([telling(0)]);
  chat.clock.now -= hour;
  expect(chat.teller.tellDue()).toBe(true);
  expect(chat.waves()).toHaveLength(1);
});
