// Says a record through an incoming webhook, where every phase of an event is a message of its own.
import type { Outcome } from '../../core/delivery.ts';
import { noticeOf } from '../../core/notice.ts';
import type { BridgeRecord } from '../../core/record.ts';
import type { HttpAnswer } from '../http/answer.ts';
import { outcomeOfWebhook } from './answer.ts';
import { type SlackMessage, slackMessageOf } from './message.ts';

/**
 * Posts the message of a record.
 * @param mention whom it wakes, in Slack's notation; null = nobody
 * @param post what it throws, the attempt understands
 */
export async function postToWebhook(
  record: BridgeRecord,
  mention: string | null,
  post: (message: SlackMessage) => Promise<HttpAnswer>,
): Promise<Outcome> {
  const answer = await post(slackMessageOf(noticeOf(record), mention));
  return outcomeOfWebhook(answer, Date.now());
}
