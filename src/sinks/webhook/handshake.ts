// Asks a receiver whether it wants to be sent to, as "HTTP 1.1 Web Hooks for Event Delivery" 1.0.2 (CloudEvents), section 4, says.
import type { Outcome } from '../../core/delivery.ts';
import { type HttpAnswer, outcomeOfAnswer } from '../http/answer.ts';
import type { HttpTurn } from '../http.ts';

type Headers = Readonly<Record<string, string>>;

export interface Handshake {
  /** What every request to the receiver must carry. */
  readonly headers: Headers;
  /** The least ms between two requests; 0 when the receiver does not care. */
  readonly spacingMs: number;
  /**
   * Asks, unless the receiver of this turn has allowed it less than a day ago.
   * @param headers sent along
   * @returns null when it is allowed, and otherwise what that means for the record
   */
  ask(turn: HttpTurn, headers: Headers): Promise<Outcome | null>;
  /** Makes the next turn ask again. */
  forget(): void;
}

/** For a receiver that need not be asked. */
export const noHandshake: Handshake = {
  headers: {},
  spacingMs: 0,
  ask: async () => null,
  forget: () => undefined,
};

const refused: Outcome = { status: 'unavailable', reason: 'handshake-refused', passing: true };
const dayMs = 24 * 60 * 60_000;
const minuteMs = 60_000;

/** What a receiver has granted. */
interface Permission {
  /** Of this receiver: another URL means another receiver. */
  readonly url: string;
  /** Epoch ms. */
  readonly at: number;
}

/**
 * @param origin the DNS name of the sending system
 * @param rate requests per minute to ask for; none = what the receiver likes
 */
export function openHandshake(origin: string, rate: number | undefined): Handshake {
  const own = { 'webhook-request-origin': origin };
  const question = rate === undefined ? own : { ...own, 'webhook-request-rate': String(rate) };
  let permission: Permission | null = null;
  let spacingMs = 0;
  return {
    headers: own,
    get spacingMs() {
      return spacingMs;
    },
    ask: async ({ url, post }, headers) => {
      if (permission?.url === url.href && isFresh(permission, Date.now())) return null;
      permission = null;
      const answer = await post({
        method: 'OPTIONS',
        headers: { ...headers, ...question },
        body: Buffer.alloc(0),
      });
      if (!allows(answer, origin)) return refusalOf(answer, Date.now());
      permission = { url: url.href, at: Date.now() };
      spacingMs = spacingOf(answer);
      return null;
    },
    forget: () => {
      permission = null;
    },
  };
}

/** A clock that was set back must not make a permission last. */
const isFresh = ({ at }: Permission, now: number): boolean => now >= at && now - at < dayMs;

/** The header alone decides: section 4.2 wants no status to be read as consent. */
function allows({ headers }: HttpAnswer, origin: string): boolean {
  const allowed = String(headers['webhook-allowed-origin'] ?? '').trim();
  return allowed === '*' || allowed.toLowerCase() === origin.toLowerCase();
}

/** A status that says what is wrong, such as 401 or 503, says more than that the permission is missing. */
function refusalOf(answer: HttpAnswer, now: number): Outcome {
  const outcome = outcomeOfAnswer(answer, now);
  return outcome.status === 'retryable' || outcome.status === 'unavailable' ? outcome : refused;
}

/** The rate is in requests per minute; `*`, or none that can be read, sets no limit. */
function spacingOf({ headers }: HttpAnswer): number {
  const rate = String(headers['webhook-allowed-rate'] ?? '').trim();
  return /^[1-9]\d*$/.test(rate) ? Math.ceil(minuteMs / Number(rate)) : 0;
}
