// One attempt over HTTP and what the answer means: the body of every sink that speaks HTTP.
import { type Secret, SecretUnreadable } from '../config/secret.ts';
import type { Receiver } from '../core/answer-table.ts';
import type { Outcome } from '../core/delivery.ts';
import { openAttempts } from './attempts.ts';
import { type HttpAnswer, outcomeOfAnswer, outcomeOfError } from './http/answer.ts';
import type { HttpClient, HttpRequest } from './http/client.ts';
import type { TlsSettings } from './http/tls-files.ts';
import type { CheckResult, OutgoingRecord, Sink } from './sink.ts';

/** The parsed `connectionSettings`. */
export interface HttpConnectionSettings {
  readonly allowHttp: boolean;
  readonly timeout: number;
  readonly connectTimeout: number;
  readonly tls: TlsSettings;
  readonly proxy?: Secret | undefined;
}

/** The parsed `httpSettings`. */
export interface HttpSinkSettings extends HttpConnectionSettings {
  readonly url: Secret;
}

/** What is sent; to the URL of the settings, unless it names another. */
export type HttpMessage = Omit<HttpRequest, 'url'> & { readonly url?: URL };

/** What an attempt may do. */
export interface HttpTurn {
  /** Where the settings say to send to. */
  readonly url: URL;
  /** Aborts when the attempt's time is up. */
  readonly stop: AbortSignal;
  /** Posts once and gives the answer. What it throws, the attempt understands: it need not be caught. */
  post(message: HttpMessage): Promise<HttpAnswer>;
}

/** The way to one receiver: its connections, its time-outs, and what its failures mean. */
export interface HttpExchange extends AsyncDisposable {
  /**
   * One attempt within the time-out, which may post more than once. Never rejects.
   * @param work reads the answers; what it throws becomes the outcome that the error stands for
   */
  attempt(work: (turn: HttpTurn) => Promise<Outcome>, signal: AbortSignal): Promise<Outcome>;
  /** Connects and hangs up. */
  check(signal: AbortSignal): Promise<CheckResult>;
}

/**
 * Opens the way to a receiver. Does no I/O.
 * @param placeOf gives the URL as the settings have it, read anew for each attempt; may throw SecretUnreadable
 */
export function openHttpExchange(settings: HttpConnectionSettings, placeOf: () => string): HttpExchange {
  const attempts = openAttempts(settings.timeout);
  let opening: Promise<HttpClient> | null = null;
  let client: HttpClient | null = null;
  const opened = async () => {
    opening ??= openClient(settings);
    client = await opening;
    return client;
  };

  const attempt = (signal: AbortSignal, work: (url: URL, stop: AbortSignal) => Promise<Outcome>) =>
    attempts.run(
      async (stop) => {
        const target = targetOf(placeOf(), settings.allowHttp);
        return target instanceof URL ? await work(target, stop) : target;
      },
      (error) => faultOf(error, client?.reused === true),
      signal,
    );

  return {
    attempt: (work, signal) =>
      attempt(signal, (url, stop) =>
        work({ url, stop, post: async (message) => (await opened()).post({ url, ...message }, stop) }),
      ),
    check: async (signal) =>
      checked(
        await attempt(signal, async (url, stop) => {
          await (await opened()).connect(url, stop);
          return { status: 'delivered' };
        }),
      ),
    [Symbol.asyncDispose]: async () => {
      await attempts[Symbol.asyncDispose]();
      await client?.[Symbol.asyncDispose]();
    },
  };
}

/** Loads the client with the first attempt: many an agent starts and has nothing to say for months. */
async function openClient(settings: HttpConnectionSettings): Promise<HttpClient> {
  const { allowHttp, timeout, connectTimeout, tls, proxy } = settings;
  const { openHttpClient } = await import('./http/client.ts');
  return openHttpClient({
    allowLoopback: allowHttp,
    timeoutMs: timeout,
    connectTimeoutMs: connectTimeout,
    tls,
    proxy,
  });
}

/** What one kind of HTTP sink adds: its message, and its own reading of an answer. */
export interface HttpMessages {
  /**
   * What is sent for a record.
   * @throws SecretUnreadable
   */
  messageOf(outgoing: OutgoingRecord): HttpMessage;
  /** Whose column of the table of answers counts; that of a plain webhook unless given. */
  readonly receiver?: Receiver;
  /** What an answer means, where that is not what the table says. @param now epoch ms */
  outcomeOf?(answer: HttpAnswer, now: number): Outcome;
}

/** Opens a sink that makes one POST for each record. Does no I/O. */
export function openHttpSink(settings: HttpSinkSettings, messages: HttpMessages): Sink {
  const exchange = openHttpExchange(settings, () => settings.url.reveal());
  const outcomeOf =
    messages.outcomeOf ??
    ((answer: HttpAnswer, now: number) => outcomeOfAnswer(answer, now, messages.receiver));
  return {
    send: (outgoing, signal) =>
      exchange.attempt(
        async ({ post }) => outcomeOf(await post(messages.messageOf(outgoing)), Date.now()),
        signal,
      ),
    check: (signal) => exchange.check(signal),
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
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
    : {
        ok: false,
        detail: `the receiver cannot be connected to: ${outcome.reason}`,
        reason: outcome.reason,
      };
