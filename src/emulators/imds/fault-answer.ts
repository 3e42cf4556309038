// Answers a request the way a fault wants it.
import type { ServerResponse } from 'node:http';
import { type Answer, errorAnswer, send } from './answer.ts';
import type { ImdsFault } from './fault.ts';

/** The waiting that a fault may ask for. */
export type Sleep = (ms: number) => Promise<void>;

/**
 * Writes what the fault makes of the answer.
 * @param healthy what a healthy IMDS would say, asked at the moment of writing
 * @param sleep waits, or returns early when the client is gone
 * @returns the status that was written, or null when there was none
 */
export async function sendFaulty(
  response: ServerResponse,
  fault: ImdsFault | null,
  healthy: () => Answer,
  sleep: Sleep,
): Promise<number | null> {
  if (fault?.kind === 'slow' || fault?.kind === 'warming') await sleep(fault.delayMs);
  if (fault?.kind === 'mute' || fault?.kind === 'lost') healthy();
  if (fault?.kind === 'hang' || fault?.kind === 'mute') await sleep(Number.POSITIVE_INFINITY);
  if (response.destroyed) return null;
  if (fault !== null && silent.includes(fault.kind)) {
    response.socket?.resetAndDestroy();
    return null;
  }
  const answer = healthy();
  if (fault?.kind === 'cut') return cut(response, answer);
  const spoiled = fault === null ? answer : spoil(answer, fault);
  send(response, spoiled);
  return spoiled.status;
}

const silent: readonly ImdsFault['kind'][] = ['reset', 'hang', 'mute', 'lost'];

function spoil(answer: Answer, fault: ImdsFault): Answer {
  if (fault.kind === 'empty') return { status: 200, body: '' };
  if (fault.kind === 'truncated') return { ...answer, body: half(answer.body) };
  if (fault.kind !== 'status') return answer;
  const headers = fault.retryAfter === undefined ? {} : { 'Retry-After': fault.retryAfter };
  return { ...errorAnswer(fault.status, errors[fault.status] ?? 'The emulator was told to fail'), headers };
}

/** The meanings that Azure's instance metadata page gives to the codes. */
const errors: Readonly<Record<number, string>> = {
  404: 'Not found',
  405: 'The verb is not supported',
  410: 'Gone. Retry after some time for a max of 70 seconds',
  429: 'Too many requests',
  500: 'Service error. Retry after some time',
  503: 'Service unavailable',
};

/** Promises the whole body and ends the connection in its middle. */
function cut(response: ServerResponse, answer: Answer): Promise<number> {
  response.writeHead(answer.status, { 'Content-Length': Buffer.byteLength(answer.body) });
  return new Promise((resolve) => {
    response.write(half(answer.body), () => {
      response.destroy();
      resolve(answer.status);
    });
  });
}

const half = (body: string): string => body.slice(0, Math.ceil(body.length / 2));
