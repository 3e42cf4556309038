// The Slack sink as a bot: one message per event through its whole life, and what of it survives failures and restarts.
import { describe, expect, it } from 'vitest';
import { noticeOf } from '../../../src/core/notice.ts';
import type { BridgeRecord } from '../../../src/core/record.ts';
import { openPassingMemory } from '../../../src/sinks/memory.ts';
import type { OutgoingRecord, Sink, SinkMemory } from '../../../src/sinks/sink.ts';
import { slackMessageOf } from '../../../src/sinks/slack/message.ts';
import { isNewer, openSlackThreads } from '../../../src/sinks/slack/thread.ts';
import { approvalOf, hookOf, impactOf } from '../../support/deed-records.ts';
import { openInbox } from '../../support/inbox.ts';
import { openOutbox } from '../../support/outboxes.ts';
import { outgoing, sampleAgentRecord, sampleEvent, sampleLife, sampleRecord } from '../../support/records.ts';
import { type SlackApi, type SlackFault, startSlackApi } from '../../support/slack-api.ts';
import { stamp } from '../../support/story.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { keepsTheHttpContract } from '../http-contract.ts';
import { marker } from '../http-subject.ts';
import { openFromSettings, patience, sinkContext } from '../sink-contract.ts';

const metadataOf = ({ id, correlationid }: BridgeRecord) => ({
  event_type: 'azure_vm_maintenance',
  event_payload: { id, correlationid },
});

const bodyOf = ({ record }: OutgoingRecord): string =>
  JSON.stringify({
    channel: 'C1',
    ...slackMessageOf(noticeOf(record), null),
    metadata: metadataOf(record),
  });

const accepts = { body: JSON.stringify({ ok: true, channel: 'C1', ts: '1794348692.000100' }) };

keepsTheHttpContract({
  type: 'slack',
  receiver: 'slack',
  settings: { token: `xoxb-${marker}`, channel: 'C1' },
  place: { setting: 'apiUrl', secret: false, path: '/api', requested: '/api/chat.postMessage' },
  context: () => ({ ...sinkContext, memory: openPassingMemory() }),
  accepts,
  bodyOf,
  readsBody: true,
  remembers: true,
  asksAt: '/api/auth.test',
  differs: { 204: { status: 'rejected', reason: 'unexpected-answer' } },
});

const openBot = (api: SlackApi, memory: SinkMemory = openPassingMemory(), more: object = {}): Sink => {
  const { url: apiUrl, token, channel } = api;
  const settings = { type: 'slack', apiUrl, token, channel, allowHttp: true, ...more };
  return openFromSettings(settings, { ...sinkContext, memory }).sink;
};

const delivered = { status: 'delivered' };
const stampOf = (sequence: number) => ({ ...stamp, agent: { ...stamp.agent, sequence } });
const send = (sink: Sink, record: BridgeRecord) => sink.send(outgoing(record), patience());

async function sendAll(sink: Sink, records: readonly BridgeRecord[]): Promise<void> {
  for (const record of records) expect(await send(sink, record)).toEqual(delivered);
}

const updates = ['chat.update', 'chat.postMessage'];

describe('a bot', () => {
  it('posts one message for an event, updates it, and replies in its thread for every later phase', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    const life = sampleLife();
    await sendAll(sink, life);
    expect(api.methods).toEqual(['chat.postMessage', ...updates, ...updates]);
    const [root, ...replies] = api.posts;
    expect(root).toMatchObject({ threadTs: null, edits: 2, channel: api.channel });
    expect(root?.text).toContain('Maintenance completed');
    expect(replies.map(({ threadTs }) => threadTs)).toEqual([root?.ts, root?.ts]);
    expect(replies.map(({ text }) => text.split(':')[2]?.trim())).toEqual([
      'Maintenance in progress',
      'Maintenance completed',
    ]);
    expect(api.posts.map(({ metadata }) => metadata)).toEqual(
      [life[2], life[1], life[2]].map((record) => record && metadataOf(record)),
    );
  });

  it('says in a reply what is inferred, as the message itself does', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, sampleLife());
    expect(api.posts.at(-1)?.text).toMatch(/inferred[\s\S]*Inferred: Azure removed the event/);
  });

  it('signs each call with its token, in JSON, and says who it is', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, sampleLife());
    for (const { headers } of api.calls) {
      expect(headers).toMatchObject({
        authorization: `Bearer ${api.token}`,
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'scheduled-events-bridge/1.0.0',
      });
    }
  });

  it('updates names and URLs as it posted them: as plain text', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, sampleLife());
    const bodies = api.calls.filter(({ method }) => method === 'chat.update').map(({ body }) => body);
    expect(bodies).toMatchObject([{ parse: 'none' }, { parse: 'none' }]);
  });

  it('finds the methods below an address that ends with a slash', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api, openPassingMemory(), { apiUrl: `${api.url}/` });
    await sendAll(sink, sampleLife());
    expect(api.posts).toHaveLength(3);
  });

  it('tells each event in a message of its own', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, [sampleRecord(), sampleRecord()]);
    expect(api.posts.map(({ threadTs }) => threadTs)).toEqual([null, null]);
  });

  it('begins with whatever phase comes first, where an earlier one was superseded', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    const [, started, completed] = sampleLife();
    await sendAll(
      sink,
      [started, completed].filter((record) => record !== undefined),
    );
    expect(api.methods).toEqual(['chat.postMessage', ...updates]);
    expect(api.posts.map(({ threadTs }) => threadTs === null)).toEqual([true, false]);
  });

  it('posts what is not about an event by itself, each time anew', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, [sampleAgentRecord(1), sampleAgentRecord(2)]);
    expect(api.posts.map(({ threadTs, edits }) => [threadTs, edits])).toEqual([
      [null, 0],
      [null, 0],
    ]);
  });

  it('updates by the id of the channel, where the settings give its name', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api, openPassingMemory(), { channel: '#ops' });
    await sendAll(sink, sampleLife());
    expect(api.posts).toHaveLength(3);
  });

  it('begins anew in another channel, once the settings name one', async () => {
    await using api = await startSlackApi();
    const memory = openPassingMemory();
    const [scheduled, started] = sampleLife();
    await using before = openBot(api, memory, { channel: '#ops' });
    if (scheduled) await sendAll(before, [scheduled]);
    await using after = openBot(api, memory);
    if (started) await sendAll(after, [started]);
    expect(api.posts.map(({ threadTs, edits }) => [threadTs, edits])).toEqual([
      [null, 0],
      [null, 0],
    ]);
  });

  it('does not put its message back for an older phase that comes late, but says it in the thread', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    const [scheduled, started, completed] = sampleLife();
    await sendAll(
      sink,
      [scheduled, completed, started].filter((record) => record !== undefined),
    );
    expect(api.methods).toEqual(['chat.postMessage', ...updates, 'chat.postMessage']);
    expect(api.posts[0]?.text).toContain('Maintenance completed');
    expect(api.posts.at(-1)?.text).toContain('Maintenance in progress');
  });
});

describe('what an agent did about an event', () => {
  const event = sampleEvent();
  const [scheduled, started, completed] = sampleLife(event);
  const deeds = [
    hookOf({ event, outcome: 'started', output: null }),
    hookOf({ event, outcome: 'failed', exitCode: 3, output: 'no\nbalancer *here*' }, stampOf(43)),
    approvalOf({ event }, stampOf(44)),
    impactOf({ event }, stampOf(45)),
  ];
  const given = (...records: readonly (BridgeRecord | undefined)[]) =>
    records.filter((record) => record !== undefined);

  it('is a reply in the thread of the event, whose message stays as it is', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, given(scheduled, ...deeds, started));
    expect(api.methods).toEqual(['chat.postMessage', ...deeds.map(() => 'chat.postMessage'), ...updates]);
    const [root, ...replies] = api.posts;
    expect([root?.threadTs, root?.edits]).toEqual([null, 1]);
    expect(root?.text).toContain('Maintenance in progress');
    expect(replies.map(({ threadTs }) => threadTs)).toEqual(Array(5).fill(root?.ts));
    expect(replies.map(({ text }) => text.split('\n')[0]?.replace(/^:\w+: /, ''))).toEqual([
      expect.stringMatching(/^Prepare hook started: drain\.sh/),
      expect.stringMatching(/^Prepare hook failed: drain\.sh exited with 3/),
      expect.stringMatching(/^Approved by rule 2/),
      expect.stringMatching(/^Paused 2\.7 to 3\.0 s/),
      expect.stringMatching(/^Maintenance in progress/),
    ]);
  });

  it('brings the end of what a hook wrote, as text', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, given(scheduled, deeds[1]));
    expect(api.posts[1]?.text.split('\n')[1]).toBe('The hook says: no ⏎ balancer ∗here∗');
  });

  it('is said once, however often it is sent', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, given(scheduled, deeds[0], deeds[0]));
    expect(api.posts).toHaveLength(2);
  });

  it('is a message of its own where the event has none, and never becomes that of the event', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, given(deeds[0], scheduled, deeds[1], completed));
    const [alone, root, ...replies] = api.posts;
    expect([alone, root].map((post) => [post?.threadTs, post?.edits])).toEqual([
      [null, 0],
      [null, 1],
    ]);
    expect(alone?.text).toContain('Prepare hook started');
    expect(replies.map(({ threadTs }) => threadTs)).toEqual([root?.ts, root?.ts]);
  });

  it('is a message of its own, once, where that of the event is gone; the next phase begins anew', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    await sendAll(sink, given(scheduled));
    api.delete(api.posts[0]?.ts ?? '');
    await sendAll(sink, given(deeds[0], deeds[0], started));
    expect(api.posts.map(({ threadTs, edits }) => [threadTs, edits])).toEqual([
      [null, 0],
      [null, 0],
    ]);
    expect(api.posts.map(({ text }) => text.replace(/^:\w+: /, '').slice(0, 20))).toEqual([
      'Prepare hook started',
      'Maintenance in progr',
    ]);
  });

  it('wakes whom its own severity wakes', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api, openPassingMemory(), { mentions: { ERROR: '<!channel>' } });
    await sendAll(sink, given(scheduled, deeds[0], deeds[1]));
    expect(api.posts.map(({ text }) => text.startsWith('<!channel> '))).toEqual([false, false, true]);
  });
});

describe('a bot whose message is gone', () => {
  it.each(['message_not_found', 'cant_update_message', 'edit_window_closed', 'channel_not_found'])(
    'posts a new one, and goes on with that, when an update meets: %s',
    async (error) => {
      await using api = await startSlackApi();
      await using sink = openBot(api);
      const [scheduled, started, completed] = sampleLife();
      if (scheduled) await sendAll(sink, [scheduled]);
      api.fail('chat.update', { error });
      await sendAll(
        sink,
        [started, completed].filter((record) => record !== undefined),
      );
      expect(api.methods).toEqual(['chat.postMessage', 'chat.update', 'chat.postMessage', ...updates]);
      const [old, root, reply] = api.posts;
      expect([old?.edits, root?.threadTs, root?.edits, reply?.threadTs]).toEqual([0, null, 1, root?.ts]);
    },
  );

  it('says nothing again that it had said before its message was gone', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    const [scheduled, started] = sampleLife();
    if (scheduled) await sendAll(sink, [scheduled]);
    api.delete(api.posts[0]?.ts ?? '');
    await sendAll(
      sink,
      [started, scheduled].filter((record) => record !== undefined),
    );
    expect(api.methods).toEqual(['chat.postMessage', 'chat.update', 'chat.postMessage']);
  });

  it('posts a new one when somebody deleted it', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    const [scheduled, started] = sampleLife();
    if (scheduled) await sendAll(sink, [scheduled]);
    api.delete(api.posts[0]?.ts ?? '');
    if (started) await sendAll(sink, [started]);
    expect(api.posts.map(({ threadTs }) => threadTs)).toEqual([null]);
    expect(api.posts[0]?.text).toContain('Maintenance in progress');
  });

  it.each(['thread_not_found', 'cannot_reply_to_message', 'restricted_action_non_threadable_channel'])(
    'posts a new one when a reply meets: %s',
    async (error) => {
      await using api = await startSlackApi();
      await using sink = openBot(api);
      const [scheduled, started] = sampleLife();
      if (scheduled) await sendAll(sink, [scheduled]);
      api.fail('chat.postMessage', { error });
      if (started) await sendAll(sink, [started]);
      expect(api.posts.map(({ threadTs }) => threadTs)).toEqual([null, null]);
    },
  );
});

/** Where a life of three records can be interrupted: the phase, the call that fails, and the messages at the end. */
const interruptions: readonly (readonly [number, string, string])[] = [
  [0, 'chat.postMessage', 'its message'],
  [1, 'chat.update', 'the update'],
  [1, 'chat.postMessage', 'the reply'],
  [2, 'chat.update', 'the last update'],
  [2, 'chat.postMessage', 'the last reply'],
];

describe('a bot that is interrupted', () => {
  it.each(interruptions)(
    'in phase %i by a refused %s repeats no step and forgets none: %s',
    async (phase, method) => {
      await using api = await startSlackApi();
      const memory = openPassingMemory();
      for (const [index, record] of sampleLife().entries()) {
        // A new process for every attempt.
        if (index === phase) {
          await using failing = openBot(api, memory);
          api.fail(method, { error: 'internal_error' });
          expect(await send(failing, record)).toEqual({
            status: 'retryable',
            reason: 'slack-internal_error',
          });
        }
        await using sink = openBot(api, memory);
        await sendAll(sink, [record]);
      }
      expect(api.posts).toHaveLength(3);
      expect(api.posts[0]).toMatchObject({ threadTs: null, edits: 2 });
      // One call more than in a life without a failure: the one that failed.
      expect(api.methods).toHaveLength(6);
    },
  );

  it('goes on after the process and its outbox were closed and opened again, from the file alone', async () => {
    using directory = temporaryDirectory();
    await using api = await startSlackApi();
    for (const [index, record] of sampleLife().entries()) {
      for (const fault of [true, false]) {
        using opened = openOutbox(directory.path, ['ops', 'other']);
        await using sink = openBot(api, opened.outbox.memoryOf('ops'));
        if (fault && index > 0) api.fail('chat.postMessage', { error: 'fatal_error' });
        await send(sink, record);
      }
    }
    expect(api.posts.map(({ threadTs }) => threadTs === null)).toEqual([true, false, false]);
    expect(api.posts[0]?.edits).toBe(2);
  });

  it('shares its memory with no other sink', async () => {
    using directory = temporaryDirectory();
    await using api = await startSlackApi();
    using opened = openOutbox(directory.path, ['ops', 'other']);
    const [scheduled, started] = sampleLife();
    await using ops = openBot(api, opened.outbox.memoryOf('ops'));
    await using other = openBot(api, opened.outbox.memoryOf('other'));
    if (scheduled) await sendAll(ops, [scheduled]);
    if (started) await sendAll(other, [started]);
    expect(api.posts.map(({ threadTs }) => threadTs)).toEqual([null, null]);
  });

  it('says a message again whose answer was lost, because nobody can know that it arrived', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    const record = sampleRecord();
    api.fail('chat.postMessage', 'lost');
    expect(await send(sink, record)).toMatchObject({ status: 'retryable', reason: 'connection-reset' });
    await sendAll(sink, [record]);
    expect(api.posts).toHaveLength(2);
  });

  it('begins anew where its note is of a form that it does not know', async () => {
    await using api = await startSlackApi();
    const half = JSON.stringify({ asked: api.channel, channel: api.channel, shown: {}, said: [] });
    for (const note of ['', 'null', '[]', '{"ts":"1"}', half]) {
      const memory: SinkMemory = { get: () => note, set: () => undefined };
      await using sink = openBot(api, memory);
      await sendAll(sink, [sampleRecord()]);
    }
    expect(api.methods).toEqual(Array(5).fill('chat.postMessage'));
    expect(api.posts.filter(({ attachments }) => attachments !== undefined)).toHaveLength(5);
  });
});

describe('what a bot remembers', () => {
  const shown = { id: 'a_started', source: 'urn:uuid:1', sequence: '02', time: '2026-11-10T22:00:02Z' };

  it.each([
    ['the same record', {}, false],
    [
      'a later one of the same agent, after its clock was put back',
      { id: 'b', sequence: '03', time: '2026-11-10T21:00:00Z' },
      true,
    ],
    ['an earlier one of the same agent', { id: 'b', sequence: '01', time: '2026-11-10T23:00:00Z' }, false],
    [
      'a later one of another agent',
      { id: 'b', source: 'urn:uuid:2', sequence: '01', time: '2026-11-10T22:00:03Z' },
      true,
    ],
    [
      'an earlier one of another agent',
      { id: 'b', source: 'urn:uuid:2', sequence: '09', time: '2026-11-10T22:00:01Z' },
      false,
    ],
  ])('tells what is news: %s', (_, change, news) => {
    expect(isNewer({ ...shown, ...change }, shown)).toBe(news);
  });

  it('does not grow with an event that is updated without end', () => {
    const memory = openPassingMemory();
    const threads = openSlackThreads(memory, 'C1');
    const said = Array.from({ length: 500 }, (_, index) => `id_${index}`);
    threads.remember('event', { asked: 'C1', channel: 'C1', ts: '1.1', shown, said });
    expect(threads.recall('event')?.said).toEqual(said.slice(-30));
  });
});

describe('the answers of the Web API', () => {
  const cases: readonly (readonly [SlackFault, object])[] = [
    [{ error: 'not_in_channel' }, { status: 'unavailable', reason: 'slack-not_in_channel' }],
    [{ error: 'missing_scope' }, { status: 'unavailable', reason: 'slack-missing_scope' }],
    [{ error: 'token_revoked' }, { status: 'unavailable', reason: 'slack-token_revoked' }],
    [{ error: 'invalid_blocks' }, { status: 'rejected', reason: 'slack-invalid_blocks' }],
    [{ error: 'service_unavailable' }, { status: 'retryable', reason: 'slack-service_unavailable' }],
    [{ error: `no_${marker}` }, { status: 'rejected', reason: 'unexpected-answer' }],
    [{ error: 'constructor' }, { status: 'rejected', reason: 'unexpected-answer' }],
    [{ retryAfter: 30 }, { status: 'retryable', reason: 'slack-ratelimited', retryAfterMs: 30_000 }],
    ['without-ts', { status: 'rejected', reason: 'unexpected-answer' }],
  ];

  it.each(cases)('are read from the body, even under a 200: %j', async (fault, outcome) => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    api.fail('chat.postMessage', fault);
    expect(await send(sink, sampleRecord())).toEqual(outcome);
  });

  it('are not believed when they say yes under a status that says no', async () => {
    await using gateway = await openInbox({ answer: { ...accepts, status: 502 } });
    const settings = { type: 'slack', apiUrl: gateway.url, token: 'xoxb-1', channel: 'C1', allowHttp: true };
    await using sink = openFromSettings(settings).sink;
    expect(await send(sink, sampleRecord())).toEqual({ status: 'retryable', reason: 'http-502' });
  });

  it('are believed when they say yes and then more than is read', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    api.fail('chat.postMessage', 'wordy', 'wordy', 'wordy');
    api.fail('chat.update', 'wordy', 'wordy');
    await sendAll(sink, sampleLife());
    expect(api.posts.map(({ threadTs }) => threadTs === null)).toEqual([true, false, false]);
  });
});

it('neither keeps nor shows the token where a gateway quotes it', async () => {
  const token = `xoxb-${marker}`;
  const yes = { ok: true, channel: token, ts: token, user: token, team: token };
  await using gateway = await openInbox({ answer: { body: JSON.stringify(yes) } });
  const kept: string[] = [];
  const memory: SinkMemory = { get: () => null, set: (...pair) => void kept.push(...pair) };
  const settings = { type: 'slack', apiUrl: gateway.url, token, channel: 'C1', allowHttp: true };
  await using sink = openFromSettings(settings, { ...sinkContext, memory }).sink;
  expect(await send(sink, sampleRecord())).toEqual(delivered);
  expect(kept).toHaveLength(2);
  expect(`${JSON.stringify(await sink.check(patience()))}${kept.join()}`).not.toContain(marker);
});

describe('a check of a bot', () => {
  it('names the bot and its workspace, and leaves nothing behind', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api);
    expect(await sink.check(patience())).toEqual({
      ok: true,
      detail: expect.stringContaining('the bot maintenance-bot in the workspace Fleet <one>;'),
    });
    expect([api.methods, api.posts]).toEqual([['auth.test'], []]);
  });

  it('says why the token does not do', async () => {
    await using api = await startSlackApi();
    await using sink = openBot(api, openPassingMemory(), { token: `xoxb-${marker}` });
    const found = await sink.check(patience());
    expect(found).toMatchObject({ ok: false, reason: 'slack-invalid_auth' });
    expect(JSON.stringify(found)).not.toContain(marker);
  });
});
