// Asks an IMDS emulator as a plain client would: every header is the test's own choice.
import { request } from 'node:http';

export interface ImdsReply {
  readonly status: number;
  readonly body: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/**
 * Sends one request on a connection of its own, with `Metadata: true` unless other headers are given.
 * @returns the answer; rejects as the connection fails
 */
export function ask(url: string, { method, headers, body, signal }: Question = {}): Promise<ImdsReply> {
  return new Promise((resolve, reject) => {
    const options = { method: method ?? 'GET', headers: headers ?? { Metadata: 'true' }, agent: false };
    const outgoing = request(url, { ...options, ...(signal === undefined ? {} : { signal }) }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }),
      );
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The path of the document. */
export const eventsPath = (apiVersion = '2020-07-01'): string =>
  `/metadata/scheduledevents?api-version=${apiVersion}`;

/** The document that an endpoint shows, parsed. */
export async function documentAt(endpoint: string, apiVersion?: string): Promise<WireDocument> {
  const { body } = await ask(endpoint + eventsPath(apiVersion));
  return JSON.parse(body) as WireDocument;
}

export interface WireDocument {
  readonly DocumentIncarnation: number;
  readonly Events: readonly {
    readonly EventId: string;
    readonly EventStatus: string;
    readonly EventType: string;
    readonly Resources: readonly string[];
    readonly NotBefore: string;
    readonly Description?: string;
    readonly EventSource?: string;
    readonly DurationInSeconds?: number;
  }[];
}

/** Approves events. */
export const approve = (endpoint: string, ...eventIds: readonly string[]): Promise<ImdsReply> =>
  ask(endpoint + eventsPath(), {
    method: 'POST',
    body: JSON.stringify({ StartRequests: eventIds.map((EventId) => ({ EventId })) }),
  });
