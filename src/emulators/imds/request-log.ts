// Remembers who asked what and when, so that tests and people can check the manners of a client.
import type { IncomingHttpHeaders } from 'node:http';

export interface RecordedRequest {
  readonly method: string;
  /** With the query, without the prefix of the VM. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly vm: string;
  /** Epoch ms. */
  readonly at: number;
  /** Epoch ms; null while it is in flight. */
  readonly endedAt: number | null;
  /** Null while it is in flight, and for ever when it got no answer. */
  readonly status: number | null;
}

export interface RequestLog {
  /** The latest ones, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** @returns what to call once the request is over */
  begin(request: Pick<RecordedRequest, 'method' | 'path' | 'headers' | 'vm' | 'at'>): EndRequest;
  /** Requests of one VM within the last second. */
  recent(vm: string, now: number): number;
}

export type EndRequest = (status: number | null, at: number) => void;

const requestsMax = 10_000;

export function createRequestLog(): RequestLog {
  const requests: RecordedRequest[] = [];
  return {
    requests,
    begin: (request) => {
      const entry = { ...request, endedAt: null as number | null, status: null as number | null };
      requests.push(entry);
      if (requests.length > requestsMax) requests.shift();
      return (status, at) => {
        entry.status = status;
        entry.endedAt = at;
      };
    },
    recent: (vm, now) => {
      const first = requests.findLastIndex((request) => request.at <= now - 1000);
      return requests.slice(first + 1).filter((request) => request.vm === vm).length;
    },
  };
}
