// What the emulator answers: status, headers and body, and the error bodies that Azure documents.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { instanceApiVersions } from './api-version.ts';
import type { EmulatedVm } from './vm.ts';

/** A request after the VM that it came from was told apart by its path prefix. */
export interface ImdsRequest {
  readonly method: string;
  /** Without the prefix of the VM, the query and a slash at the end. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  /** Null when it was too long. */
  readonly body: string | null;
  readonly vm: EmulatedVm;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Compact JSON, as IMDS writes it. */
export const jsonAnswer = (status: number, value: unknown): Answer => ({
  status,
  body: JSON.stringify(value),
});

/** An error in the shape that IMDS documents: `{"error":"..."}`. */
export const errorAnswer = (status: number, error: string): Answer => jsonAnswer(status, { error });

export const notFound = errorAnswer(404, 'Not found');
export const methodNotAllowed = errorAnswer(405, 'The verb is not supported');
export const headerMissing = errorAnswer(400, 'Bad request. Required metadata header not specified');

/** Documented word for word on Azure's instance metadata page, with the three newest versions. */
export const versionUnknown = jsonAnswer(400, {
  error:
    'Bad request. api-version is invalid or was not specified in the request. For more information refer to aka.ms/azureimds',
  'newest-versions': instanceApiVersions.slice(-3).reverse(),
});

/** Writes an answer whole. */
export function send(response: ServerResponse, { status, body, headers }: Answer): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': length,
    ...headers,
  });
  response.end(body);
}
