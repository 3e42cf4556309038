// Posts as a bot: one message for each event, updated through its life, with a reply in its thread for every later phase.

import type { Outcome } from '../../core/delivery.ts';
import { plainText, shortened } from '../../core/notice/plain-text.ts';
import { newsOfRecord } from '../../core/notice/wave-notice.ts';
import { type Notice, type NoticeState, noticeOf } from '../../core/notice.ts';
import type { BridgeRecord } from '../../core/record.ts';
import type { CheckResult, OutgoingRecord } from '../sink.ts';
import type { SlackVerdict } from './answer.ts';
import { type SlackMessage, slackMessageOf, slackReplyOf } from './message.ts';
import { isNewer, type SlackThread, type SlackThreads, shownOf } from './thread.ts';

/** Calls one method of the Web API. What it throws, the attempt understands. */
export type SlackCall = (method: string, body: Readonly<Record<string, unknown>>) => Promise<SlackVerdict>;

/** What a bot works with. */
export interface SlackDesk {
  readonly call: SlackCall;
  readonly threads: SlackThreads;
  /** As the settings name it. */
  readonly channel: string;
  /** Whom a record wakes; null = nobody. */
  mentionOf(record: BridgeRecord): string | null;
}

/** One record, in the forms in which it may have to be said. */
interface Phase {
  readonly record: BridgeRecord;
  readonly notice: Notice;
  /** What of it is worth a reply: names to remember it by. */
  readonly news: readonly string[];
  readonly mention: string | null;
  /** For an operator or another program to find the message by. */
  readonly metadata: object;
}

type Step =
  | { readonly ok: true; readonly thread: SlackThread }
  /** `gone`: the message is no longer there to be updated or replied to. */
  | { readonly ok: false; readonly gone: boolean; readonly outcome: Outcome };

const delivered: Outcome = { status: 'delivered' };

/** Says what is new, and remembers each step, so that a repeat after a failure in the middle repeats none. */
export async function postAsBot({ record }: OutgoingRecord, desk: SlackDesk): Promise<Outcome> {
  const notice = noticeOf(record);
  const { id, correlationid } = record;
  const metadata = { event_type: 'azure_vm_maintenance', event_payload: { id, correlationid } };
  const news = newsOfRecord(record);
  const phase: Phase = { record, notice, news, mention: desk.mentionOf(record), metadata };
  const place = places[notice.state];
  if (place === 'alone') return await postAlone(phase, desk);
  let thread = desk.threads.recall(correlationid);
  if (place === 'reply') return await remark(phase, thread, desk);
  if (thread === null) return await begin(phase, desk, []);
  for (const take of [update, reply]) {
    const step = await take(phase, thread, desk);
    if (!step.ok) return step.gone ? await begin(phase, desk, thread.said) : step.outcome;
    thread = step.thread;
  }
  return delivered;
}

/**
 * Where a notice is said. `phase`: in the message of its event, and in its thread. `reply`: in the thread alone, for it
 * leaves the event as it is. `alone`: as a message of its own.
 */
const places: Readonly<Record<NoticeState, 'phase' | 'reply' | 'alone'>> = {
  scheduled: 'phase',
  updated: 'phase',
  started: 'phase',
  completed: 'phase',
  canceled: 'phase',
  deed: 'reply',
  test: 'alone',
  other: 'alone',
};

/** Where the event has no message, or has lost it, a message of its own must not become that of the event. */
async function remark(phase: Phase, thread: SlackThread | null, desk: SlackDesk): Promise<Outcome> {
  if (thread === null) return await postAlone(phase, desk);
  const step = await reply(phase, thread, desk);
  if (step.ok) return delivered;
  if (!step.gone) return step.outcome;
  const outcome = await postAlone(phase, desk);
  if (outcome.status !== 'delivered') return outcome;
  const { id, correlationid } = phase.record;
  desk.threads.remember(correlationid, { ...thread, said: [...thread.said, id] });
  return delivered;
}

/** What is not about an event has no life to follow. */
async function postAlone(phase: Phase, desk: SlackDesk): Promise<Outcome> {
  const verdict = await desk.call('chat.postMessage', rootOf(phase, desk));
  return verdict.ok ? delivered : verdict.outcome;
}

/** @param before what was said in a message that is gone */
async function begin(phase: Phase, desk: SlackDesk, before: readonly string[]): Promise<Outcome> {
  const verdict = await desk.call('chat.postMessage', rootOf(phase, desk));
  if (!verdict.ok) return verdict.outcome;
  const { channel, ts } = verdict.result;
  if (channel === undefined || ts === undefined) return { status: 'rejected', reason: 'unexpected-answer' };
  const { correlationid } = phase.record;
  const shown = shownOf(phase.record);
  const said = [...before, ...phase.news];
  desk.threads.remember(correlationid, { asked: desk.channel, channel, ts, shown, said });
  return delivered;
}

const rootOf = ({ notice, mention, metadata }: Phase, { channel }: SlackDesk) => ({
  channel,
  ...slackMessageOf(notice, mention),
  metadata,
});

async function update(phase: Phase, thread: SlackThread, desk: SlackDesk): Promise<Step> {
  const { record, notice, metadata } = phase;
  // One that was retried by hand, hours later, must not put the message back.
  if (!isNewer(record, thread.shown)) return { ok: true, thread };
  const { text, attachments }: SlackMessage = slackMessageOf(notice, null);
  const { channel, ts } = thread;
  // Posting takes names and URLs as they are; updating does so only where it is asked to.
  const body = { channel, ts, text, attachments, parse: 'none', metadata };
  const verdict = await desk.call('chat.update', body);
  if (!verdict.ok) return refused(verdict);
  return {
    ok: true,
    thread: desk.threads.remember(record.correlationid, { ...thread, shown: shownOf(record) }),
  };
}

async function reply(phase: Phase, thread: SlackThread, desk: SlackDesk): Promise<Step> {
  const { record, news, notice, mention, metadata } = phase;
  // What is not worth a word of its own stands in the message.
  if (news.every((each) => thread.said.includes(each))) return { ok: true, thread };
  const { channel, ts } = thread;
  const text = slackReplyOf(notice, mention);
  const body = { channel, thread_ts: ts, text, unfurl_links: false, unfurl_media: false, metadata };
  const verdict = await desk.call('chat.postMessage', body);
  if (!verdict.ok) return refused(verdict);
  const said = [...new Set([...thread.said, ...news])];
  return { ok: true, thread: desk.threads.remember(record.correlationid, { ...thread, said }) };
}

// The message was deleted, may no longer be edited, takes no replies, or is in a channel that another token saw.
const goneErrors: readonly (string | null)[] = [
  'message_not_found',
  'cant_update_message',
  'edit_window_closed',
  'channel_not_found',
  'thread_not_found',
  'cannot_reply_to_message',
  'restricted_action_non_threadable_channel',
];

const refused = ({ error, outcome }: Extract<SlackVerdict, { ok: false }>): Step => ({
  ok: false,
  gone: goneErrors.includes(error),
  outcome,
});

const nameLengthMax = 80;

/** Asks who the token is, which leaves no trace. */
export async function greetAsBot(call: SlackCall): Promise<CheckResult | Outcome> {
  const verdict = await call('auth.test', {});
  if (!verdict.ok) return verdict.outcome;
  const { user = 'without a name', team = 'without a name' } = verdict.result;
  const [bot, workspace] = [user, team].map((name) => shortened(plainText(name), nameLengthMax));
  const detail = `the token is that of the bot ${bot} in the workspace ${workspace}; only a message can show whether it may post to the channel`;
  return { ok: true, detail };
}
