// A wave in a Slack channel: one message that is updated, and a reply only for what is news to whoever reads it.
import { expect, it } from 'vitest';
import type { FleetFact } from '../../../src/core/fleet-fact.ts';
import { waveRecord } from '../../../src/core/fleet-record.ts';
import { openPassingMemory } from '../../../src/sinks/memory.ts';
import type { SinkMemory } from '../../../src/sinks/sink.ts';
import {
  fleetFact,
  fleetSpeaker,
  folded,
  lifeOf,
  onlyWave,
  rollingFacts,
  soonAfter,
} from '../../support/fleet-facts.ts';
import { outgoing } from '../../support/records.ts';
import { type SlackApi, startSlackApi } from '../../support/slack-api.ts';
import { openFromSettings, patience, sinkContext } from '../sink-contract.ts';

const openBot = (api: SlackApi, memory: SinkMemory = openPassingMemory()) => {
  const { url: apiUrl, token, channel } = api;
  const settings = { type: 'slack', apiUrl, token, channel, allowHttp: true, mentions: { WARN: '<!here>' } };
  return openFromSettings(settings, { ...sinkContext, memory }).sink;
};

/** The records of a wave, one after each of its facts. */
const recordsOf = (facts: readonly FleetFact[]) =>
  facts.map((fact, index) =>
    outgoing(
      waveRecord(onlyWave(folded(facts.slice(0, index + 1))), soonAfter(fact), fleetSpeaker(index + 1)),
    ),
  );

async function say(api: SlackApi, facts: readonly FleetFact[], memory?: SinkMemory): Promise<void> {
  await using sink = openBot(api, memory);
  for (const record of recordsOf(facts))
    expect(await sink.send(record, patience())).toEqual({ status: 'delivered' });
}

const headlines = (api: SlackApi): string[] =>
  api.posts.map(({ text }) => text.replace(/^.*?(Maintenance.*)$/s, '$1'));
const burst = Array.from({ length: 12 }, (_, event) =>
  fleetFact({ kind: 'scheduled', event, after: event / 10 }),
);

it('twelve events of one set are one message, with one reply when they begin and one when all are over', async () => {
  await using api = await startSlackApi();
  const lives = Array.from({ length: 12 }, (_, event) => lifeOf(event, event / 10));
  const facts = [0, 1, 2].flatMap((phase) => lives.flatMap((life) => life[phase] ?? []));
  await say(api, facts);
  const [root, ...replies] = api.posts;
  expect(root).toMatchObject({ threadTs: null, edits: 35 });
  expect(root?.text).toContain('Maintenance completed: Freeze (about 5 s) on scale set web: all 15 VMs done');
  expect(replies.map(({ threadTs }) => threadTs)).toEqual([root?.ts, root?.ts]);
  expect(headlines(api).slice(1)).toEqual([
    expect.stringMatching(/^Maintenance in progress: .* 3 of 15 VMs in progress, 12 to come/),
    expect.stringMatching(/^Maintenance completed: .* all 15 VMs done/),
  ]);
});

it('a set that is rolled over gets a reply for each fault domain that is announced and that is over', async () => {
  await using api = await startSlackApi();
  await say(api, rollingFacts());
  expect(api.posts.filter(({ threadTs }) => threadTs === null)).toHaveLength(1);
  expect(
    headlines(api)
      .slice(1)
      .map((text) => text.replace(/: .*?: /, ': ').split(',')[0]),
  ).toEqual([
    expect.stringMatching(/^Maintenance in progress: Freeze \(about 5 s\) on web-0/),
    expect.stringMatching(/^Maintenance completed: Freeze \(about 5 s\) on web-0/),
    'Maintenance scheduled: 3 of 6 VMs done',
    'Maintenance completed: all 6 VMs done',
    'Maintenance scheduled: 6 of 9 VMs done',
    'Maintenance completed: all 9 VMs done',
    'Maintenance scheduled: 9 of 12 VMs done',
    'Maintenance completed: all 12 VMs done',
    'Maintenance scheduled: 12 of 15 VMs done',
    'Maintenance completed: all 15 VMs done',
  ]);
});

it('news that no record of its own brought is said by the next one: those between may have been skipped', async () => {
  await using api = await startSlackApi();
  await using sink = openBot(api);
  const records = recordsOf([
    ...burst,
    fleetFact({ kind: 'started', after: 15 }),
    fleetFact({ kind: 'started', event: 1, after: 16 }),
  ]);
  for (const record of [records[0], records.at(-1)]) if (record) await sink.send(record, patience());
  expect(api.posts).toHaveLength(2);
  expect(headlines(api)[1]).toMatch(/^Maintenance in progress/);
});

it('wakes people when it asks more of them than before, and not again for each VM', async () => {
  await using api = await startSlackApi();
  const longer = [0, 1, 2].map((event) =>
    fleetFact({ kind: 'updated', event, after: 3, change: { durationSeconds: 60 } }),
  );
  await say(api, [...burst, ...longer]);
  expect(api.posts.map(({ text }) => text.startsWith('<!here>'))).toEqual([false, true]);
});

it('a repeat after a restart says nothing again', async () => {
  await using api = await startSlackApi();
  const memory = openPassingMemory();
  const facts = rollingFacts().slice(0, 5);
  await say(api, facts, memory);
  const posts = api.posts.length;
  await say(api, facts, memory);
  expect(api.posts).toHaveLength(posts);
});
