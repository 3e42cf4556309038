// The Slack sink with an incoming webhook: the contract of HTTP sinks, its message, and what its answers mean.

import { noticeOf } from '../../src/core/notice.ts';
import type { OutgoingRecord } from '../../src/sinks/sink.ts';
import { slackMessageOf } from '../../src/sinks/slack-message.ts';
import { keepsTheHttpContract } from './http-contract.ts';

const messageOf = ({ record }: OutgoingRecord): string =>
  JSON.stringify(slackMessageOf(noticeOf(record), null));

keepsTheHttpContract({
  type: 'slack',
  receiver: 'slack',
  accepts: { body: 'ok' },
  bodyOf: messageOf,
  readsBody: true,
  // Without content, there is no "ok" in it.
  differs: { 204: { status: 'rejected', reason: 'unexpected-answer' } },
});
