// Posts signed heads to a URL: to whatever keeps them, such as a chat, a ticket or a timestamping service of your own.
import pRetry, { AbortError } from 'p-retry';
import type { Outcome } from '../../core/delivery.ts';
import { outcomeOfAnswer } from '../../sinks/http/answer.ts';
import { openHttpExchange } from '../../sinks/http.ts';
import { version } from '../../version.ts';
import { type Anchor, type AnchorPut, type AnchorSettings, failedAnchor } from './anchor.ts';

// Short: the next interval tries again anyhow.
const tries = { retries: 2, minTimeout: 500, maxTimeout: 2_000, randomize: true } as const;
const limits = { timeout: 10_000, connectTimeout: 5_000, tls: {} } as const;

export function openWebhookAnchor({ url, allowHttp = false }: AnchorSettings): Anchor {
  if (url === undefined) throw new TypeError('a webhook without a URL passed the settings');
  const exchange = openHttpExchange({ ...limits, allowHttp }, () => url.reveal());
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'user-agent': `scheduled-events-bridge/${version}`,
  };
  const post = (note: string, signal: AbortSignal): Promise<Outcome> =>
    exchange.attempt(
      async (turn) => outcomeOfAnswer(await turn.post({ headers, body: Buffer.from(note) }), Date.now()),
      signal,
    );
  return {
    place: url.place,
    put: (_, note, signal) => put(() => post(note, signal), signal),
    newest: null,
    check: async (signal) => {
      const { ok, detail } = await exchange.check(signal);
      return { ok, detail: ok ? `${detail}; nothing was posted` : detail };
    },
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

async function put(post: () => Promise<Outcome>, signal: AbortSignal): Promise<AnchorPut> {
  try {
    return await pRetry(
      async () => {
        const outcome = await post();
        if (outcome.status === 'delivered') return { status: 'anchored', reference: null } as const;
        // Its message holds one of a closed list of reasons.
        const fault = new Error(outcome.reason);
        throw outcome.status === 'retryable' ? fault : new AbortError(fault);
      },
      { ...tries, signal },
    );
  } catch (error) {
    return failedAnchor(signal.aborted || !(error instanceof Error) ? 'aborted' : error.message);
  }
}
