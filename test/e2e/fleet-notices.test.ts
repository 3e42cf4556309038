// Five hundred agents in 20 groups, a rolling maintenance, and a consumer killed again and again: one notice for each fact.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { FleetVm } from '../../src/core/fleet-fact.ts';
import type { JournalEntry } from '../../src/core/journal.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import {
  type AgentGroup,
  eventIdOf,
  groupsOf,
  namedIn,
  openFleetAgents,
  stepsMax,
} from '../support/fleet-agents.ts';
import { startFleetInbox } from '../support/fleet-inbox.ts';
import { lastRoots, needlessRoots, waveOf } from '../support/fleet-notices.ts';
import { journalFacts } from '../support/journal-facts.ts';
import { type RunningProcess, startNode } from '../support/process.ts';
import { ask, keyBeside } from '../support/running-consumer.ts';
import { type SlackPost, startSlackApi } from '../support/slack-api.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

const cli = join(import.meta.dirname, '../../src/cli.ts');
// Four kinds of maintenance, each with a chat sink of its own: Slack takes one message a second.
const eventTypes = ['Freeze', 'Reboot', 'Redeploy', 'Terminate'];
const groups = groupsOf(20, eventTypes);
const vms = groups.length * 25;
const facts = groups.length * 5 * 3;
// How many notices have come when the consumer dies: the odd ones before they are answered.
const killsAt = [3, 41, 82, 124, 165, 210];
const patienceMs = 60_000;

type Notified = Extract<JournalEntry, { readonly kind: 'notified' }>;

// What the dead one had sent already is still read; its successor takes longer to come to its first word.
const lastWordsMs = 100;

/** The consumer, started anew whenever it was killed. */
function openLives(file: string, calls: () => number) {
  const deaths: number[] = [];
  let [life, kills]: [RunningProcess, number] = [startNode([cli, 'consumer', '-c', file]), 0];
  return {
    /** How many calls of the chat had come from those who died. */
    deaths,
    get kills() {
      return kills;
    },
    kill: (): void => {
      kills += 1;
      life.child.kill('SIGKILL');
      life = startNode([cli, 'consumer', '-c', file]);
      setTimeout(() => deaths.push(calls()), lastWordsMs);
    },
    /** A last life ends as a service manager ends it. */
    finish: async (): Promise<number | null> => {
      life.child.kill('SIGTERM');
      return await life.ended();
    },
    [Symbol.asyncDispose]: () => life[Symbol.asyncDispose](),
  };
}

/** A trail that is just being made is locked, or has no tables yet. */
function hasBegun(trail: string): boolean {
  if (!existsSync(trail)) return false;
  try {
    return journalFacts(trail, 'notify-position').length > 0;
  } catch {
    return false;
  }
}

const isOver = ({ text }: SlackPost): boolean => text.includes('all 25 VMs done');

const groupOf = ({ text }: SlackPost): AgentGroup => {
  const name = /on scale set (\S+?):/.exec(text)?.[1];
  const group = groups.find((each) => each.name === name);
  if (group === undefined) throw new Error(`no group of the plan: ${text}`);
  return group;
};

/** What is known of the VMs of a fault domain, as a notice has it. */
const vmsIn = (group: AgentGroup, faultDomain: number): FleetVm[] =>
  namedIn(group, faultDomain)
    .map(({ vmName, vmId, resourceId, location, zone, vmScaleSet, placementGroupId, ...vm }) => ({
      ...{ name: vmName ?? '', vmId, resourceId, location, zone, vmScaleSet, placementGroupId },
      faultDomain: vm.faultDomain,
    }))
    .sort(byName);

const byName = (one: FleetVm, other: FleetVm): number => (one.name < other.name ? -1 : 1);

const events = groups.flatMap((group) =>
  [0, 1, 2, 3, 4].map((faultDomain) => ({
    group,
    faultDomain,
    key: eventIdOf(group, faultDomain).toLowerCase(),
  })),
);

test('500 agents in 20 groups, rolled over by fault domains under a consumer that is killed: one notice for each fact, with all of its VMs', async () => {
  using directory = temporaryDirectory();
  const [trail, file] = [join(directory.path, 'trail.db'), join(directory.path, 'consumer.yaml')];
  await using hub = await startEventHubsEmulator();
  await using inbox = await startFleetInbox();
  await using api = await startSlackApi();
  const { connectionString, eventHubName } = hub;
  const { url: apiUrl, token, channel } = api;
  const bot = { type: 'slack', apiUrl, token, channel, allowHttp: true };
  const chats = eventTypes.map((type) => [type.toLowerCase(), { ...bot, filter: { types: [type] } }]);
  const places = { all: { type: 'webhook', url: inbox.url, allowHttp: true }, ...Object.fromEntries(chats) };
  const imds = { endpoint: 'http://127.0.0.1:9' };
  const notify = {
    stateDir: join(directory.path, 'notify'),
    groupWait: '300ms',
    silenceInterval: '1h',
    imds,
    sinks: places,
  };
  const signing = { keyFile: keyBeside(trail) };
  const settings = { hub: { connectionString, eventHubName }, trail: { path: trail }, signing, notify };
  writeFileSync(file, JSON.stringify({ ...settings, log: { level: 'warn' } }));
  await using agents = openFleetAgents({ groups, beginsAt: Date.now() - 7_200_000 }, hub);

  await using lives = openLives(file, () => api.calls.length);
  await until('the notices to begin', () => hasBegun(trail), patienceMs);
  inbox.onRequest = (count) => {
    const turn = killsAt.indexOf(count);
    if (turn >= 0) setImmediate(() => lives.kill());
    return turn % 2 === 1;
  };
  await agents.greet();
  const known = async (): Promise<boolean> => (await ask(trail, (reader) => reader.counts()))?.agents === vms;
  await until('every agent to be known', known, patienceMs);
  // Who begins now knows the fleet from the trail alone.
  lives.kill();
  for (let step = 0; step < stepsMax; step++) {
    await agents.see(step);
    await delay(500);
  }
  expect(agents.factIds.size).toBe(facts);
  await until('every fact at the webhook', () => inbox.ids.size === facts, patienceMs);
  const told = () => lastRoots(api).length === groups.length && lastRoots(api).every(isOver);
  await until('every wave to be over in Slack', told, patienceMs);
  expect(await lives.finish()).toBe(0);

  // Each fact once; whoever died with an answer in hand said that one again, word for word.
  expect([...inbox.ids].sort()).toEqual([...agents.factIds].sort());
  expect(lives.kills).toBe(killsAt.length + 1);
  expect(inbox.bodies.length - facts).toBeLessThanOrEqual(lives.kills);
  expect(new Set(inbox.bodies).size).toBe(facts);

  for (const { group, faultDomain, key } of events) {
    const told = new Map(
      inbox.records.filter((each) => each.correlationid === key).map((each) => [each.id, each]),
    );
    const phases = [...told.values()].map(({ data }) => data.transition);
    expect(phases).toEqual(['scheduled', 'started', 'completed']);
    for (const { data } of told.values()) {
      expect([...data.fleet.vms].sort(byName)).toEqual(vmsIn(group, faultDomain));
    }
  }

  // One message for each wave, which names all of its VMs in the end.
  expect(
    lastRoots(api)
      .map((post) => groupOf(post).name)
      .sort(),
  ).toEqual(groups.map(({ name }) => name).sort());
  for (const post of lastRoots(api)) {
    const text = JSON.stringify(post.attachments);
    expect(groupOf(post).vms.filter(({ vmName }) => !text.includes(String(vmName)))).toEqual([]);
  }
  const sinks = new Map(lastRoots(api).map((post) => [waveOf(post), groupOf(post).eventType]));
  expect(needlessRoots(api, lives.deaths, (wave) => sinks.get(wave) ?? '')).toEqual([]);

  // The trail knows of every fact that the team got it, at each place.
  const notified = journalFacts(trail, 'notified') as Notified[];
  for (const sink of ['all', ...eventTypes]) {
    const own = notified.filter((fact) => fact.sink === sink.toLowerCase());
    const keys = events
      .filter(({ group }) => sink === 'all' || group.eventType === sink)
      .map(({ key }) => key);
    const expected = [...agents.factIds].filter((id) => keys.includes(id.split('_')[0] ?? ''));
    expect(new Set(own.flatMap((fact) => fact.facts))).toEqual(new Set(expected));
    expect(own.filter(({ outcome }) => outcome !== 'delivered' && outcome !== 'superseded')).toEqual([]);
  }
}, 240_000);
