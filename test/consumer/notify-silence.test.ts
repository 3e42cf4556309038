// Who has fallen silent is told once, with all who did at the same time; an outage of the hub makes nobody silent.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import { watchSilence } from '../../src/consumer/notify/silence-watch.ts';
import { openTeller } from '../../src/consumer/notify/teller.ts';
import { openVmDirectory } from '../../src/consumer/notify/vm-directory.ts';
import { chatPolicy } from '../../src/core/delivery.ts';
import type { SilenceData } from '../../src/core/fleet-record.ts';
import { agentRecord, type BridgeRecord, encodeRecord } from '../../src/core/record.ts';
import { Outbox } from '../../src/delivery/outbox/outbox.ts';
import { steppedClock } from '../support/clocks.ts';
import { recordingLog } from '../support/recording-log.ts';
import { observerOf } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const [minute, hour] = [60_000, 3_600_000];
const filter = { observer: 'all', sample: 1, records: ['event', 'fleet'] } as const;
const limits = { sizeMax: 10_000_000, keepDeliveredMs: hour, keepDeadMs: hour };

/** A trail that agents speak to, and what is told of their silence. */
function openFleet(path: string) {
  const [clock, log] = [steppedClock(), recordingLog()];
  const trail = openSqliteTrail(join(path, 'trail.db'));
  let size = 0;
  let isHearing = true;
  const speak = async (vm: number): Promise<void> => {
    const agent = { version: '1.0.0', instanceId: `instance-${vm}`, sequence: size + 1 };
    const record = agentRecord('heartbeat', clock.now(), {}, { observer: observerOf(vm), agent });
    const event = { sequenceNumber: size, enqueuedMs: clock.now(), body: encodeRecord(record) };
    await trail.append('ns/hub/0/epoch', { size, lastSequenceNumber: size - 1 }, [event]);
    size += 1;
  };
  const run = (signal: AbortSignal) => {
    const routes = [{ name: 'ops', filter }];
    const outbox = new Outbox({ directory: path, routes, limits, clock, log });
    const teller = openTeller({
      ...{
        outbox,
        sinks: [{ name: 'ops', filter, policy: chatPolicy }],
        trail: 't',
        since: 0,
        told: new Set(),
      },
      ...{ groupWaitMs: 1, directory: openVmDirectory(), log, now: () => clock.now() },
      openReader: async () => openSqliteReader(join(path, 'trail.db')),
    });
    if (teller === null) throw new Error('a teller');
    let looks = 0;
    const ended = watchSilence(
      {
        ...{ outbox, teller, intervalMs: minute, clock, log, ring: () => undefined },
        isHearing: () => isHearing,
        openReader: async () => {
          looks += 1;
          return openSqliteReader(join(path, 'trail.db'));
        },
      },
      signal,
    );
    return { ended: ended.then(() => outbox[Symbol.dispose]()), looks: () => looks, outbox };
  };
  return {
    ...{ clock, speak, run },
    hear: (hears: boolean): void => {
      isHearing = hears;
    },
    [Symbol.asyncDispose]: () => trail[Symbol.asyncDispose](),
  };
}

/** What was told, in order: the state and the VMs. */
const toldIn = (outbox: Outbox): [string, string[]][] =>
  saidIn(outbox).map(({ state, vms }) => [state, vms.map(({ name }) => name)]);

/** What was told, in order: the state, and since when it was another. */
const timesIn = (outbox: Outbox): [string, string | null | undefined][] =>
  saidIn(outbox).map(({ state, vms }) => [state, vms[0]?.since]);

function saidIn(outbox: Outbox): SilenceData[] {
  const rows = outbox.ask((database) => database.prepare('SELECT body FROM record ORDER BY sequence').all());
  if (!rows.ok) throw new Error(rows.fault);
  return rows.value.map(
    ({ body }) => (JSON.parse(Buffer.from(body as Uint8Array).toString()) as BridgeRecord<SilenceData>).data,
  );
}

test('VMs that fall silent together are told in one record, once, through a restart, and again when they are heard', async () => {
  using directory = temporaryDirectory();
  await using fleet = openFleet(directory.path);
  const { clock, speak } = fleet;
  await speak(9);
  await clock.jump(3 * hour);
  for (const vm of [0, 1, 2]) await speak(vm);
  let stopping = new AbortController();
  let life = fleet.run(stopping.signal);
  /** Lets time pass, with the looks that it brings. */
  const look = async (minutes = 1): Promise<void> => {
    for (let passed = 0; passed < minutes; passed++) {
      const before = life.looks();
      await clock.jump(minute);
      await until('a look', () => life.looks() > before);
    }
    await until('its end', () => life.outbox.recall('notify/voices') !== null);
  };
  await clock.jump(minute);
  await clock.jump(minute);
  await look();
  // Whoever was silent before is no news.
  expect(toldIn(life.outbox)).toEqual([]);
  await look(60);
  await speak(2);
  await look(60);
  await until('the silence', () => toldIn(life.outbox).length > 0);
  expect(toldIn(life.outbox)).toEqual([['silent', ['web-0', 'web-1']]]);
  stopping.abort();
  await clock.jump(minute);
  await life.ended;

  stopping = new AbortController();
  life = fleet.run(stopping.signal);
  await clock.jump(minute);
  await clock.jump(minute);
  await speak(0);
  await look();
  await until('the return', () => toldIn(life.outbox).length > 1);
  expect(toldIn(life.outbox)).toEqual([
    ['silent', ['web-0', 'web-1']],
    ['heard', ['web-0']],
  ]);
  stopping.abort();
  await clock.jump(minute);
  await life.ended;
});

test('whoever is heard again was silent since the last word before that, however often it was looked for', async () => {
  using directory = temporaryDirectory();
  await using fleet = openFleet(directory.path);
  const { clock, speak } = fleet;
  await speak(0);
  const lastWord = new Date(clock.now()).toISOString();
  const stopping = new AbortController();
  const life = fleet.run(stopping.signal);
  for (let minutes = 0; minutes < 3; minutes++) await clock.jump(minute);
  await until('the first look', () => life.outbox.recall('notify/voices') !== null);
  for (const count of [1, 1, 2]) {
    for (let minutes = 0; minutes < 120; minutes++) await clock.jump(minute);
    if (count === 2) await speak(0);
    await clock.jump(minute);
    await until('what is told', () => toldIn(life.outbox).length === count);
  }
  expect(timesIn(life.outbox)).toEqual([
    ['silent', lastWord],
    ['heard', lastWord],
  ]);
  stopping.abort();
  await clock.jump(minute);
  await life.ended;
});

test('nobody is looked at while the hub is not heard, and for twenty minutes after a long outage', async () => {
  using directory = temporaryDirectory();
  await using fleet = openFleet(directory.path);
  const { clock, hear } = fleet;
  const stopping = new AbortController();
  const life = fleet.run(stopping.signal);
  hear(false);
  for (let minutes = 0; minutes < 10; minutes++) await clock.jump(minute);
  for (const breaks of [1, 0]) {
    hear(true);
    for (let minutes = 0; minutes < 20; minutes++) await clock.jump(minute);
    expect(life.looks()).toBe(0);
    hear(breaks === 0);
    await clock.jump(minute);
  }
  await until('a look', () => life.looks() === 1);
  stopping.abort();
  await clock.jump(minute);
  await life.ended;
});

test('nobody is looked at for twenty minutes after the consumer stood still for long', async () => {
  using directory = temporaryDirectory();
  await using fleet = openFleet(directory.path);
  const { clock, speak } = fleet;
  await speak(0);
  const stopping = new AbortController();
  const life = fleet.run(stopping.signal);
  for (let minutes = 0; minutes < 3; minutes++) await clock.jump(minute);
  await until('a look', () => life.looks() === 1);
  await clock.jump(3 * hour);
  for (let minutes = 0; minutes < 20; minutes++) await clock.jump(minute);
  expect(life.looks()).toBe(1);
  await clock.jump(minute);
  await until('another look', () => life.looks() === 2);
  await until('the silence', () => toldIn(life.outbox).length === 1);
  stopping.abort();
  await clock.jump(minute);
  await life.ended;
});

test('a moment in which the hub is not heard puts the next look off by three times as long', async () => {
  using directory = temporaryDirectory();
  await using fleet = openFleet(directory.path);
  const { clock, hear } = fleet;
  const stopping = new AbortController();
  const life = fleet.run(stopping.signal);
  hear(false);
  await clock.jump(minute);
  hear(true);
  for (let minutes = 0; minutes < 3; minutes++) await clock.jump(minute);
  expect(life.looks()).toBe(0);
  await clock.jump(minute);
  await until('a look', () => life.looks() === 1);
  stopping.abort();
  await clock.jump(minute);
  await life.ended;
});
