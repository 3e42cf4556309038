// SIGKILL of two agents at 50 random moments, while events come, change and go: nothing lost, nothing new said twice.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSqliteReader } from '../../src/audit/sqlite-reader.ts';
import type { TransitionKind } from '../../src/core/diff.ts';
import { readDocument } from '../../src/core/document.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { factId } from '../../src/core/record.ts';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openInbox } from '../support/inbox.ts';
import { eventsAmong, recordsIn } from '../support/running-agent.ts';
import { startConsumer } from '../support/running-consumer.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');
const killsAtLeast = 50;

const wireEvent = (name: string, change: object = {}) => ({
  EventId: `${name}0000000-0000-4000-8000-000000000000`.toUpperCase(),
  EventStatus: 'Scheduled',
  EventType: 'Reboot',
  ResourceType: 'VirtualMachine',
  Resources: ['WestNO_0', 'WestNO_1'],
  NotBefore: new Date(Date.now() + 3_600_000).toUTCString(),
  Description: `event ${name}`,
  EventSource: 'Platform',
  DurationInSeconds: -1,
  ...change,
});
const started = { EventStatus: 'Started', NotBefore: '' };
const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => wireEvent(name));
const longer = wireEvent('b', { DurationInSeconds: 30 });
const begun = (name: string) => wireEvent(name, started);

/** What stands in the document, and the facts that are new with it. */
const steps: readonly {
  readonly events: readonly object[];
  readonly says: readonly [TransitionKind, object][];
}[] = [
  { events: [a], says: [['scheduled', a]] },
  { events: [a, b], says: [['scheduled', b]] },
  { events: [begun('a'), b], says: [['started', begun('a')]] },
  {
    events: [longer],
    says: [
      ['completed', a],
      ['updated', longer],
    ],
  },
  { events: [], says: [['canceled', longer]] },
  {
    events: [c, d],
    says: [
      ['scheduled', c],
      ['scheduled', d],
    ],
  },
  {
    events: [begun('c'), begun('d')],
    says: [
      ['started', begun('c')],
      ['started', begun('d')],
    ],
  },
  {
    events: [],
    says: [
      ['completed', c],
      ['completed', d],
    ],
  },
] as never;

const document = (events: readonly object[], index: number) =>
  JSON.stringify({ DocumentIncarnation: index + 2, Events: events });

/** The id of the fact, reckoned from the document alone. */
function idOf([kind, wire]: [TransitionKind, object]): string {
  const reading = readDocument(JSON.stringify({ DocumentIncarnation: 1, Events: [wire] }));
  const event = reading.status === 'document' ? reading.document.events[0] : undefined;
  if (event === undefined) throw new Error('the test writes documents');
  return factId(kind, event);
}

/** One VM's agent, run from the command line and killed again and again. */
function killableAgent(directory: string, name: string, endpoint: string, sinks: object) {
  const local = join(directory, `${name}.jsonl`);
  const file = join(directory, `${name}.yaml`);
  const settings = {
    stateDir: join(directory, name),
    imds: { endpoint, pollInterval: '250ms' },
    sinks: { local: { type: 'file', path: local }, ...sinks },
    log: { level: 'error' },
  };
  writeFileSync(file, JSON.stringify(settings));
  let kills = 0;
  const start = () => {
    const child = spawn(process.execPath, [cli, 'agent', '-c', file], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const ended = once(child, 'close');
    return {
      async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
        child.kill(signal);
        await ended;
      },
    };
  };
  const ids = () => new Set(eventsAmong(recordsIn(local)).map(({ id }) => id));
  return {
    local,
    get kills() {
      return kills;
    },
    /** Kills the agent at random moments, then lets it live until it has said what it should. */
    async live(expected: readonly string[]): Promise<void> {
      for (let turn = 0; turn < 3; turn += 1) {
        const child = start();
        await delay(Math.random() * 1_200);
        await child.end('SIGKILL');
        kills += 1;
      }
      const child = start();
      await until(
        `${name} to say ${expected.join(', ')}`,
        () => expected.every((id) => ids().has(id)),
        40_000,
      );
      await delay(Math.random() * 20);
      await child.end('SIGKILL');
      kills += 1;
    },
    /** Lets the agent live until every sink has everything, and ends it as a service manager does. */
    async settle(done: () => boolean): Promise<void> {
      const child = start();
      await until(`${name} to deliver everything`, done, 40_000);
      await child.end('SIGTERM');
    },
  };
}

/** Of what a sink got, the first copy of each record, in the order of arrival. */
function firstCopies(records: readonly BridgeRecord[]): BridgeRecord[] {
  const seen = new Set<string>();
  return records.filter(({ source, id }) => {
    const isFirst = !seen.has(`${source} ${id}`);
    seen.add(`${source} ${id}`);
    return isFirst;
  });
}

const sequencesOf = (records: readonly BridgeRecord[]): number[] =>
  records.map(({ sequence }) => Number(sequence));
const rising = (numbers: readonly number[]): number[] => [...numbers].sort((left, right) => left - right);

/**
 * Here an event starts within seconds of its announcement. Such a record passes older ones that wait for more than
 * 2 s: those of an agent that was killed before it could deliver them.
 */
const isShortNotice = ({ type }: BridgeRecord): boolean => type.endsWith('.event.started.v1');

/** The trail of what the hub got holds each fact once, with both observers. */
async function expectTrail(path: string, hub: EventHubsEmulator, facts: readonly string[]): Promise<void> {
  await using _consumer = startConsumer(path, hub);
  const entries = hub.events().length;
  const counts = async () => {
    await using trail = openSqliteReader(path);
    return { ...(await trail.counts()), facts: await trail.facts() };
  };
  await until('the trail', () => existsSync(path));
  await until('all entries', async () => (await counts()).entries === entries, 40_000);
  const found = await counts();
  expect(found.facts.map(({ id }) => id).sort()).toEqual([...facts].sort());
  expect(found.facts.map(({ observers }) => observers)).toEqual(facts.map(() => 2));
  expect(found).toMatchObject({ conflicts: 0, parked: 0, agents: 2 });
  expect(found.records + found.repeats).toBe(entries);
}

test('agents killed at 50 random moments: every sink gets exactly the facts, without a hole, and in order but for those of short notice', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator({ vms: [{ name: 'WestNO_0' }, { name: 'WestNO_1' }] });
  await using hub = await startEventHubsEmulator();
  const inboxes = [await openInbox(), await openInbox()];
  await using closing = new AsyncDisposableStack();
  for (const inbox of inboxes) closing.use(inbox);
  const agents = inboxes.map((inbox, index) =>
    killableAgent(directory.path, `vm${index}`, imds.endpointOf(`WestNO_${index}`), {
      hook: { type: 'webhook', url: inbox.url, allowHttp: true },
      fleet: { type: 'eventhubs', connectionString: hub.connectionString, eventHubName: hub.eventHubName },
    }),
  );

  const expected: string[] = [];
  imds.show(document([], -1));
  for (const [index, { events, says }] of steps.entries()) {
    imds.show(document(events, index));
    expected.push(...says.map(idOf));
    await Promise.all(agents.map((agent) => agent.live(expected)));
  }
  expect(agents.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThanOrEqual(killsAtLeast);

  const inHub = (): BridgeRecord[] =>
    hub.events().map(({ body }) => JSON.parse(Buffer.from(body).toString('utf8')) as BridgeRecord);
  for (const [index, agent] of agents.entries()) {
    const posted = (): BridgeRecord[] =>
      (inboxes[index]?.requests ?? []).map(({ body }) => JSON.parse(body.toString('utf8')) as BridgeRecord);
    const sourceOf = (): string => eventsAmong(recordsIn(agent.local))[0]?.source ?? '';
    const streamed = (): BridgeRecord[] => inHub().filter(({ source }) => source === sourceOf());
    await agent.settle(() => {
      const highest = Math.max(...sequencesOf(recordsIn(agent.local)));
      return (
        [posted(), streamed()].every((records) => expected.every((id) => records.some((r) => r.id === id))) &&
        new Set(sequencesOf(streamed())).size >= highest
      );
    });

    const local = firstCopies(recordsIn(agent.local));
    for (const records of [local, firstCopies(posted())]) {
      const unhurried = sequencesOf(records.filter((record) => !isShortNotice(record)));
      expect(rising(unhurried)).toEqual(unhurried);
      expect(
        eventsAmong(records)
          .map(({ id }) => id)
          .sort(),
      ).toEqual([...expected].sort());
    }
    // Streams get all records: the numbers of one installation have no hole, and name one record each.
    const stream = firstCopies(streamed());
    expect(rising(sequencesOf(stream))).toEqual(stream.map((_, at) => at + 1));
    expect(
      eventsAmong(stream)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...expected].sort());
    expect(rising(sequencesOf(local))).toEqual(local.map((_, at) => at + 1));
  }
  await expectTrail(join(directory.path, 'trail.db'), hub, expected);
}, 180_000);
