// One POST and what the answer means: the body of every sink that speaks HTTP.

import { type Secret, SecretUnreadable } from '../config/secret.ts';
import type { DeliveryReason, Outcome } from '../core/delivery.ts';
import { type HttpAnswer, outcomeOfAnswer, outcomeOfError } from './http-answer.ts';
import { type HttpRequest, openHttpClient } from './http-client.ts';
import type { OutgoingRecord, Sink } from './sink.ts';

/** The parsed `httpSettings`. */
export interface HttpSinkSettings {
  readonly url: Secret;
  readonly allowHttp: boolean;
  readonly timeout: number;
  readonly connectTimeout: number;
}

/** What a sink of its own adds to the POST. */
export interface HttpMessages {
  /**
   * What is sent for a record.
   * @throws SecretUnreadable
   */
  messageOf(outgoing: OutgoingRecord): Omit<HttpRequest, 'url'>;
  /** What an answer means, where that is not what it means for everybody. @param now epoch ms */
  outcomeOf?(answer: HttpAnswer, now: number): Outcome;
}

/** Opens a sink that makes one POST for each record. Does no I/O. */
export function openHttpSink(settings: HttpSinkSettings, messages: HttpMessages): Sink {
  const { allowHttp, timeout: timeoutMs, connectTimeout: connectTimeoutMs } = settings;
  const client = openHttpClient({ allowLoopback: allowHttp, timeoutMs, connectTimeoutMs });
  const outcomeOf = messages.outcomeOf ?? outcomeOfAnswer;
  const underway = new Set<Promise<unknown>>();
  let closed = false;

  const attempt = async (work: (stop: AbortSignal) => Promise<Outcome>, signal: AbortSignal) => {
    if (closed || signal.aborted) return retryable('aborted');
    const opened = client.connections;
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      return await work(AbortSignal.any([signal, limit]));
    } catch (error) {
      if (signal.aborted) return retryable('aborted');
      if (limit.aborted) return retryable('timeout');
      if (error instanceof SecretUnreadable) return unavailable('secret-unreadable');
      return outcomeOfError(error, client.connections === opened);
    }
  };

  const tracked = async (running: Promise<Outcome>): Promise<Outcome> => {
    underway.add(running);
    return await running.finally(() => underway.delete(running));
  };

  const withUrl = (work: (url: URL, stop: AbortSignal) => Promise<Outcome>) => async (stop: AbortSignal) => {
    const url = targetOf(settings.url.reveal());
    if (url === null) return unavailable('invalid-url');
    if (url.protocol === 'http:' && !allowHttp) return unavailable('egress-blocked');
    return await work(url, stop);
  };

  return {
    send: (outgoing, signal) => {
      const post = withUrl(async (url, stop) => {
        const answer = await client.post({ url, ...messages.messageOf(outgoing) }, stop);
        return outcomeOf(answer, Date.now());
      });
      return tracked(attempt(post, signal));
    },
    check: async (signal) => {
      const connect = withUrl(async (url, stop) => {
        await client.connect(url, stop);
        return { status: 'delivered' };
      });
      const outcome = await tracked(attempt(connect, signal));
      if (outcome.status === 'delivered') return { ok: true, detail: 'the receiver can be connected to' };
      return { ok: false, detail: `the receiver cannot be connected to: ${outcome.reason}` };
    },
    [Symbol.asyncDispose]: async () => {
      closed = true;
      await Promise.allSettled(underway);
      await client[Symbol.asyncDispose]();
    },
  };
}

const retryable = (reason: DeliveryReason): Outcome => ({ status: 'retryable', reason });
const unavailable = (reason: DeliveryReason): Outcome => ({ status: 'unavailable', reason });

/** The one place where a URL is parsed: the error of `new URL` carries the whole text, so it stays here. */
function targetOf(text: string): URL | null {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  // Neither would be sent, and a person who wrote them expects that they are.
  if (url.username !== '' || url.password !== '' || url.hash !== '') return null;
  return url;
}
