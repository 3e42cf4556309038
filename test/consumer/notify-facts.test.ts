// What is told of what the trail holds: not what is old, not what was told, and nothing that is not whole.
import { expect, test } from 'vitest';
import type { TrailReader } from '../../src/audit/store.ts';
import { findTellables } from '../../src/consumer/notify/facts.ts';
import { withMissing } from '../../src/consumer/notify/missing.ts';
import { openVmDirectory } from '../../src/consumer/notify/vm-directory.ts';
import { unknownObserver } from '../../src/core/observer.ts';
import { asHubEvents, freeze, liveMigration, observerOf, saying, synthesisAt } from '../support/synthetic.ts';

const day = 86_400_000;
const entriesOf = (...args: Parameters<typeof asHubEvents>) =>
  asHubEvents(...args).map((event, index) => ({ ...event, index, bodySha256: new Uint8Array() }));

const rules = (change: object = {}) => ({
  ...{ since: synthesisAt, now: synthesisAt + 60_000, directory: openVmDirectory() },
  saidAmong: () => new Set<string>(),
  ...change,
});

const idsOf = (records: Parameters<typeof asHubEvents>[0], change: object = {}): string[] =>
  findTellables(entriesOf(records), rules(change)).tellables.map(({ id }) => id);

const [scheduled = saying({ kind: 'scheduled' }), started = scheduled] = liveMigration();

test('a fact of many witnesses is told once, by its first, with how many told it', () => {
  const records = [0, 1, 2].flatMap((vm) => liveMigration(0, vm).slice(0, 1));
  const { tellables } = findTellables(entriesOf(records), rules());
  expect(tellables).toMatchObject([
    { kind: 'fact', id: scheduled.id, fact: { observers: 3, record: { source: scheduled.source } } },
  ]);
});

test('what was said before, and what the hub stored before notices were switched on, is told to nobody', () => {
  expect(idsOf([scheduled, started])).toEqual([scheduled.id, started.id]);
  expect(idsOf([scheduled, started], { saidAmong: () => new Set([scheduled.id]) })).toEqual([started.id]);
  // A minute for clocks that are apart.
  expect(idsOf([scheduled], { since: synthesisAt + 60_000 })).toEqual([scheduled.id]);
  expect(idsOf([scheduled], { since: synthesisAt + 60_001 })).toEqual([]);
});

test('what is older than seven days, by the clock of the agent or of the hub, is told to nobody', () => {
  expect(idsOf([scheduled], { now: synthesisAt + 7 * day })).toEqual([scheduled.id]);
  expect(idsOf([scheduled], { now: synthesisAt + 7 * day + 1 })).toEqual([]);
  const [entry] = entriesOf([scheduled]);
  if (entry === undefined) throw new Error('an entry');
  const late = { ...entry, enqueuedMs: synthesisAt + 8 * day };
  const found = findTellables([late], rules({ now: synthesisAt + 8 * day }));
  expect(found.tellables).toEqual([]);
});

test('what is not whole is counted and told to nobody, and a body that was pruned is nothing', () => {
  const { eventType: _, ...event } = freeze();
  const broken = { ...scheduled, data: { ...scheduled.data, event } };
  const unsigned = { ...started, severitynumber: 1 };
  const bodies = [broken, unsigned].map((record) => JSON.stringify(record));
  expect(findTellables(entriesOf([...bodies, 'no record']), rules())).toEqual({ tellables: [], odd: 2 });
  const pruned = entriesOf([scheduled]).map((entry) => ({ ...entry, body: null }));
  expect(findTellables(pruned, rules())).toEqual({ tellables: [], odd: 0 });
});

test('what cannot wait is urgent, and what is over is not', () => {
  const preempt = freeze(1, { eventType: 'Preempt' });
  const urgencyOf = (records: Parameters<typeof asHubEvents>[0]) =>
    findTellables(entriesOf(records), rules()).tellables.map((each) => each.kind === 'fact' && each.urgent);
  expect(urgencyOf([saying({ event: preempt, kind: 'scheduled' }), scheduled])).toEqual([true, false]);
});

test('a VM is known by its name in its own resource group, and one that never spoke by where its neighbours are', () => {
  const directory = openVmDirectory();
  const idOf = (group: string) => `/subscriptions/s/resourceGroups/${group}/providers/x/y`;
  const [one, other] = ['rg-1', 'RG-2'].map((group) => ({ ...observerOf(0), resourceId: idOf(group) }));
  directory.learn({ ...one, faultDomain: '1' });
  directory.learn({ ...other, faultDomain: '2' });
  expect(directory.find('_WEB-0', { ...one })).toMatchObject({ name: 'WEB-0', faultDomain: '1' });
  expect(directory.find('web-0', { resourceId: idOf('rg-2') })).toMatchObject({ faultDomain: '2' });
  const neighbour = { ...unknownObserver, vmScaleSet: 'web', location: 'norwayeast' };
  expect(directory.find('web-9', neighbour)).toMatchObject({
    ...{ name: 'web-9', vmId: null, faultDomain: null, vmScaleSet: 'web', location: 'norwayeast' },
  });
});

test('of many ends at once only as many are asked about as one second allows, and others have their turns between', async () => {
  const ends = Array.from({ length: 12 }, (_, event) => liveMigration(event).slice(2)).flat();
  const { tellables } = findTellables(entriesOf(ends), rules({ now: synthesisAt + 3_600_000 }));
  let [asked, turns] = [0, 0];
  const counting = setInterval(() => (turns += 1), 1);
  const slowly = (): null => {
    asked += 1;
    for (const until = performance.now() + 250; performance.now() < until; );
    return null;
  };
  const reader = { timeline: async () => slowly(), [Symbol.asyncDispose]: async () => undefined };
  const told = await withMissing(tellables, async () => reader as unknown as TrailReader, synthesisAt);
  clearInterval(counting);
  expect(told).toEqual(tellables);
  expect(tellables).toHaveLength(12);
  expect(asked).toBeLessThanOrEqual(4);
  expect(asked).toBeGreaterThan(0);
  expect(turns).toBeGreaterThanOrEqual(asked - 1);
});
