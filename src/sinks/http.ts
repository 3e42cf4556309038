// One POST and what the answer means: the body of every sink that speaks HTTP.
import { type Secret, SecretUnreadable } from '../config/secret.ts';
import type { Outcome } from '../core/delivery.ts';
import { openAttempts } from './attempts.ts';
import { type HttpAnswer, outcomeOfAnswer, outcomeOfError } from './http-answer.ts';
import { type HttpRequest, openHttpClient } from './http-client.ts';
import type { CheckResult, OutgoingRecord, Sink } from './sink.ts';

/** The parsed `httpSettings`. */
export interface HttpSinkSettings {
  readonly url: Secret;
  readonly allowHttp: boolean;
  readonly timeout: number;
  readonly connectTimeout: number;
}

/** What one kind of HTTP sink adds: its message, and its own reading of an answer. */
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
  const attempts = openAttempts(timeoutMs);
  const outcomeOf = messages.outcomeOf ?? outcomeOfAnswer;

  const attempt = (signal: AbortSignal, work: (url: URL, stop: AbortSignal) => Promise<Outcome>) => {
    const connectionsBefore = client.connections;
    return attempts.run(
      async (stop) => {
        const target = targetOf(settings.url.reveal(), allowHttp);
        return target instanceof URL ? await work(target, stop) : target;
      },
      (error) => faultOf(error, client.connections === connectionsBefore),
      signal,
    );
  };

  return {
    send: (outgoing, signal) =>
      attempt(signal, async (url, stop) =>
        outcomeOf(await client.post({ url, ...messages.messageOf(outgoing) }, stop), Date.now()),
      ),
    check: async (signal) =>
      checked(
        await attempt(signal, async (url, stop) => {
          await client.connect(url, stop);
          return { status: 'delivered' };
        }),
      ),
    [Symbol.asyncDispose]: async () => {
      await attempts[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    },
  };
}

/**
 * The one place where a URL is parsed: the error of `new URL` carries the whole text, so it stays here.
 * @returns the URL, or why the sink cannot be used as it is configured
 */
function targetOf(text: string, allowHttp: boolean): URL | Outcome {
  const url = URL.parse(text);
  const invalid: Outcome = { status: 'unavailable', reason: 'invalid-url' };
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return invalid;
  // Neither would be sent, and a person who wrote them expects that they are.
  if (url.username !== '' || url.password !== '' || url.hash !== '') return invalid;
  return url.protocol === 'https:' || allowHttp ? url : { status: 'unavailable', reason: 'egress-blocked' };
}

function faultOf(error: unknown, reused: boolean): Outcome {
  if (error instanceof SecretUnreadable) return { status: 'unavailable', reason: 'secret-unreadable' };
  return outcomeOfError(error, reused);
}

const checked = (outcome: Outcome): CheckResult =>
  outcome.status === 'delivered'
    ? { ok: true, detail: 'the receiver can be connected to' }
    : { ok: false, detail: `the receiver cannot be connected to: ${outcome.reason}` };
