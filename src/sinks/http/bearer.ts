// Signs HTTP requests with tokens of the VM's managed identity, and parts with a token that was refused.
import * as z from 'zod';
import type { Outcome } from '../../core/delivery.ts';
import type { HttpExchange, HttpTurn } from '../http.ts';
import type { CheckResult } from '../sink.ts';
import { EgressBlocked, isThisMachine } from './egress.ts';
import { type IdentityPlace, openManagedIdentity } from './managed-identity.ts';

/** The setting of every sink that can sign in with the VM's identity. */
export const clientIdSetting = z
  .string()
  .min(1)
  .exactOptional()
  .describe('Client id of a user-assigned managed identity; the VM’s own identity when not given.');

/** What lets the requests of one attempt in. */
export interface Signing {
  readonly headers: Readonly<Record<string, string>>;
  /** What an outcome means once it is known what signed the request. */
  judge(outcome: Outcome): Outcome;
}

/** @throws TokenUnavailable, SecretUnreadable, EgressBlocked */
export type Signer = (turn: Pick<HttpTurn, 'url' | 'stop'>) => Promise<Signing>;

/** Signs with fixed headers. @param headersOf read anew for each attempt */
export const signWith =
  (headersOf: () => Readonly<Record<string, string>>): Signer =>
  async () => ({ headers: headersOf(), judge: (outcome) => outcome });

// A metadata service that is up answers within a second.
const tokenMsMax = 5_000;

/**
 * Signs with tokens, and keeps one while it is good and nobody refuses it. Does no I/O.
 * @param attemptMs how long an attempt may take as a whole: a token takes half of it at most
 */
export function openBearer(place: Omit<IdentityPlace, 'timeoutMs'>, attemptMs: number): Signer {
  const identity = openManagedIdentity({ ...place, timeoutMs: Math.min(tokenMsMax, attemptMs / 2) });
  return async ({ url, stop }) => {
    // A key is good for its receiver alone; a token may be good for all that the VM may do in Azure.
    if (url.protocol !== 'https:' && !isThisMachine(url)) throw new EgressBlocked();
    const { text, kept } = await identity.token(stop);
    return {
      headers: { authorization: `Bearer ${text}` },
      judge: (outcome) => {
        if (!isRefused(outcome)) return outcome;
        identity.forget();
        // It may be older than the role that it needs: a new one is due before the refusal is believed.
        return kept ? { status: 'retryable', reason: outcome.reason, stale: true } : outcome;
      },
    };
  };
}

type Unavailable = Extract<Outcome, { status: 'unavailable' }>;

const isRefused = (outcome: Outcome): outcome is Unavailable =>
  outcome.status === 'unavailable' && (outcome.reason === 'http-401' || outcome.reason === 'http-403');

/** Checks that what signs can be had, and then that the receiver is there; sends nothing. */
export async function checkSigned(
  exchange: HttpExchange,
  sign: Signer,
  signal: AbortSignal,
): Promise<CheckResult> {
  const signed = await exchange.attempt(async (turn) => {
    await sign(turn);
    return { status: 'delivered' };
  }, signal);
  if (signed.status === 'delivered') return await exchange.check(signal);
  return { ok: false, detail: `the request cannot be signed: ${signed.reason}`, reason: signed.reason };
}
