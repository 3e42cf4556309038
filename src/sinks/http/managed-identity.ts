// Asks the metadata service of the VM for tokens of its managed identity, and keeps each while it is good.
import { Agent, type IncomingMessage, request } from 'node:http';
import pRetry from 'p-retry';
import { openDeadline } from '../deadline.ts';

/** Whose tokens, for whom, and where they are asked for. */
export interface IdentityPlace {
  readonly imdsEndpoint: string;
  /** Of a user-assigned identity; the VM's own identity unless given. */
  readonly clientId?: string | undefined;
  /** Whom the token is for, such as `https://eventhubs.azure.net/`. */
  readonly audience: string;
  /** How long one token may take. */
  readonly timeoutMs: number;
}

export interface IdentityToken {
  readonly text: string;
  /** Epoch ms. */
  readonly expiresAt: number;
  /** Whether it was asked for earlier than now: what was granted since does not show in it. */
  readonly kept: boolean;
}

export interface ManagedIdentity {
  /**
   * A token that is still good.
   * @throws TokenUnavailable, also when `signal` aborts
   */
  token(signal: AbortSignal): Promise<IdentityToken>;
  /** Keeps no token any longer: the next one is a new one. */
  forget(): void;
}

/** No token could be had, or none that is still good. Its text says nothing: an answer may hold a token. */
export class TokenUnavailable extends Error {
  readonly code = 'ERR_TOKEN_UNAVAILABLE';
}

// One that is about to end could be over before it is read at the other end.
const remainingMsMin = 5 * 60_000;

/**
 * Opens an identity; does no I/O. Written for VMs alone, because the client of the Azure SDK costs a process that
 * sends rarely 10 MB, keeps refused tokens, and knows one metadata service for as long as the process lives.
 */
export function openManagedIdentity(place: IdentityPlace): ManagedIdentity {
  let kept: Omit<IdentityToken, 'kept'> | null = null;
  return {
    token: async (signal) => {
      if (kept !== null && kept.expiresAt - Date.now() > remainingMsMin) return { ...kept, kept: true };
      kept = await askForToken(place, signal);
      return { ...kept, kept: false };
    },
    forget: () => {
      kept = null;
    },
  };
}

/** The call that Azure documents as "Get a token using HTTP" for managed identities on VMs. */
async function askForToken(place: IdentityPlace, signal: AbortSignal) {
  const { imdsEndpoint, clientId, audience, timeoutMs } = place;
  using deadline = openDeadline(timeoutMs, signal);
  const query = new URLSearchParams({ 'api-version': '2018-02-01', resource: audience });
  if (clientId !== undefined) query.set('client_id', clientId);
  const url = `${imdsEndpoint}/metadata/identity/oauth2/token?${query}`;
  try {
    const answer = await pRetry(() => get(url, deadline.signal), { ...retries, signal: deadline.signal });
    return readToken(answer);
  } catch {
    throw new TokenUnavailable();
  }
}

// Two more tries, soon: what takes longer to mend is for the outbox to wait for.
const retries = {
  retries: 2,
  minTimeout: 200,
  factor: 2,
  randomize: true,
  shouldRetry: ({ error }: { readonly error: Error }) => !(error instanceof TokenRefused),
};

/** The service is well, and gives this VM no such token: asking again at once would not help. */
class TokenRefused extends TokenUnavailable {}

// Azure asks for another try after these and after every 5xx ("Retry guidance" of managed identities).
const passingStatuses: readonly (number | undefined)[] = [404, 410, 429];

function readToken(answer: unknown) {
  const { access_token: text, expires_on: seconds } = answer as Readonly<Record<string, unknown>>;
  const expiresAt = Number(seconds) * 1_000;
  if (typeof text !== 'string' || text === '' || !(expiresAt > Date.now())) throw new TokenUnavailable();
  return { text, expiresAt };
}

async function get(url: string, signal: AbortSignal): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // An agent of its own: that of the process may have been told of a proxy, and a proxy must never see a token.
  const agent = new Agent({ keepAlive: false });
  request(url, { agent, signal, headers: { Metadata: 'true' } }, resolve)
    .on('error', reject)
    .end();
  const answer = await promise;
  const { statusCode: status = 0 } = answer;
  if (status === 200) return JSON.parse(await firstText(answer));
  answer.destroy();
  throw status >= 500 || passingStatuses.includes(status) ? new TokenUnavailable() : new TokenRefused();
}

// A token takes 2 to 4 KiB.
const answerBytesMax = 64 * 1024;

async function firstText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > answerBytesMax) throw new TokenUnavailable();
  }
  return Buffer.concat(chunks).toString('utf8');
}
