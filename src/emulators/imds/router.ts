// Decides what each request is told when nothing is wrong: checks first, then the endpoint.
import {
  type Answer,
  errorAnswer,
  headerMissing,
  type ImdsRequest,
  jsonAnswer,
  methodNotAllowed,
  notFound,
  versionUnknown,
} from './answer.ts';
import { eventsApiVersions, instanceApiVersions, isPreview } from './api-version.ts';
import type { FaultPath } from './fault.ts';
import { instanceMetadata, isInstancePath } from './instance-metadata.ts';
import { tokenPath } from './managed-identity.ts';
import { readStartRequests } from './start-requests.ts';

/** What the endpoints show and do. */
export interface Endpoints {
  /** The body of the document in the dialect of an api-version. */
  document(apiVersion: string): string;
  /** @returns whether every id stands in the document */
  approve(eventIds: readonly string[], vm: string): boolean;
  token(request: ImdsRequest): Answer;
}

const eventsPath = '/metadata/scheduledevents';

/** @returns the answer of a healthy IMDS */
export function route(request: ImdsRequest, endpoints: Endpoints): Answer {
  const { path, method } = request;
  const refusal = refusalOf(request);
  if (refusal !== null) return refusal;
  if (path === eventsPath) return scheduledEvents(request, endpoints);
  const known = path === '/metadata/versions' || path === tokenPath || isInstancePath(path);
  if (!known) return notFound;
  if (method !== 'GET') return methodNotAllowed;
  if (path === tokenPath) return endpoints.token(request);
  if (path === '/metadata/versions') return jsonAnswer(200, { apiVersions: instanceApiVersions });
  return instanceMetadata(request);
}

/** The part of IMDS that a request is for, as faults name it; null for no part that they know. */
export function faultPathOf(method: string, path: string): FaultPath | null {
  if (path === eventsPath) return method === 'POST' ? 'approval' : 'scheduledevents';
  if (path === tokenPath) return 'token';
  return isInstancePath(path) ? 'instance' : null;
}

function refusalOf({ path, query, headers }: ImdsRequest): Answer | null {
  // A request that passed a proxy may come from anyone: IMDS never answers it.
  if (headers['x-forwarded-for'] !== undefined)
    return errorAnswer(400, 'Bad request. X-Forwarded-For is not allowed');
  const lenient = path === eventsPath && isPreview(query.get('api-version'));
  if (!lenient && headers['metadata']?.toString().toLowerCase() !== 'true') return headerMissing;
  const names = [...query.keys()];
  if (new Set(names).size < names.length) return errorAnswer(400, 'Bad request. Duplicate query parameters');
  return null;
}

function scheduledEvents({ method, query, body, vm }: ImdsRequest, endpoints: Endpoints): Answer {
  const apiVersion = query.get('api-version') ?? '';
  if (method !== 'GET' && method !== 'POST') return methodNotAllowed;
  if (!eventsApiVersions.includes(apiVersion)) return versionUnknown;
  if (method === 'GET') return { status: 200, body: endpoints.document(apiVersion) };
  const eventIds = readStartRequests(body);
  if (eventIds === null)
    return errorAnswer(400, 'Bad request. The body is not a valid list of StartRequests');
  return endpoints.approve(eventIds, vm.name)
    ? { status: 200, body: '' }
    : errorAnswer(400, 'Bad request. There is no event with this EventId');
}
