// Slack's Web API as far as a bot that posts messages meets it, on a real HTTP server; it refuses what Slack refuses.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { readBody, startHttpServer } from '../../src/emulators/http-server.ts';
import { brokenLimits, type CheckedMessage } from './slack-limits.ts';

/** A message as the channel has it now. */
export interface SlackPost {
  readonly channel: string;
  readonly ts: string;
  readonly text: string;
  readonly attachments: CheckedMessage['attachments'];
  readonly metadata: unknown;
  /** The message that this one replies to. */
  readonly threadTs: string | null;
  readonly edits: number;
}

/** One call that came, taken or not. */
export interface SlackApiCall {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * What is odd about a call: an error of Slack, a 429; one that is neither taken nor answered; a taken one whose answer
 * is lost, lacks the `ts` of its message, or has more in it than a sink reads.
 */
export type SlackFault =
  | { readonly error: string }
  | { readonly retryAfter: number }
  | 'hang'
  | 'lost'
  | 'without-ts'
  | 'wordy';

export interface SlackApi extends AsyncDisposable {
  /** What `apiUrl` is set to. */
  readonly url: string;
  readonly token: string;
  /** The id of the one channel, which is also known as `#ops`. */
  readonly channel: string;
  readonly calls: readonly SlackApiCall[];
  /** Every message that is there, replies included, in order. */
  readonly posts: readonly SlackPost[];
  /** The methods called so far, in order. */
  readonly methods: readonly string[];
  /** What goes wrong with the next call of a method, and with those after it, one fault each. */
  fail(method: string, ...faults: readonly SlackFault[]): void;
  /** Somebody deletes the message. */
  delete(ts: string): void;
}

type Body = Readonly<Record<string, unknown>>;
type Answer = Readonly<Record<string, unknown>>;

const token = 'xoxb-111-222-t0ken';
const channel = 'C0123456789';

/** Starts the API of a workspace with one bot and one channel. */
export async function startSlackApi(): Promise<SlackApi> {
  const calls: SlackApiCall[] = [];
  const faults = new Map<string, readonly SlackFault[]>();
  const board = openBoard();
  const methods: Readonly<Record<string, (body: Body) => Answer>> = {
    'auth.test': () => ({
      ok: true,
      team: 'Fleet\u0007 <one>',
      user: 'maintenance-bot',
      bot_id: 'B1',
      user_id: 'U1',
    }),
    'chat.postMessage': board.post,
    'chat.update': board.update,
  };

  const server = await startHttpServer(async (request, response) => {
    const method = request.url?.replace(/^\/api\//, '') ?? '';
    const text = (await readBody(request, 1024 * 1024))?.toString('utf8') ?? '';
    const body: Body = JSON.parse(text);
    calls.push({ method, headers: request.headers, body });
    const [fault, ...later] = faults.get(method) ?? [];
    faults.set(method, later);
    if (typeof fault === 'object') return void refuse(fault, response);
    if (fault === 'hang') return;
    const handle = methods[method];
    const answer = refusalOf(request) ?? handle?.(body) ?? { ok: false, error: 'unknown_method' };
    if (fault === 'lost') response.socket?.resetAndDestroy();
    else answerWith(response, changed(answer, fault));
  });

  return {
    url: `${server.url}/api`,
    token,
    channel,
    calls,
    get posts() {
      return board.posts();
    },
    get methods() {
      return calls.map(({ method }) => method);
    },
    fail: (method, ...given) => void faults.set(method, given),
    delete: board.delete,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function changed(answer: Answer, fault: SlackFault | undefined): Answer {
  if (fault === 'without-ts') return { ok: answer['ok'] };
  return fault === 'wordy' ? { ...answer, response_metadata: 'x'.repeat(20_000) } : answer;
}

function answerWith(response: ServerResponse, answer: Answer, status = 200, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  // As Slack does: one character of ours may come back as six.
  const text = JSON.stringify(answer).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  response.end(text);
}

function refuse(fault: Exclude<SlackFault, string>, response: ServerResponse): void {
  const headers = 'error' in fault ? {} : { 'retry-after': String(fault.retryAfter) };
  const error = 'error' in fault ? fault.error : 'ratelimited';
  answerWith(response, { ok: false, error }, 'error' in fault ? 200 : 429, headers);
}

function refusalOf({ headers, method }: IncomingMessage): Answer | null {
  if (method !== 'POST') return { ok: false, error: 'invalid_post_type' };
  if (headers['content-type'] !== 'application/json; charset=utf-8')
    return { ok: false, error: 'invalid_post_type' };
  if (headers.authorization === undefined) return { ok: false, error: 'not_authed' };
  return headers.authorization === `Bearer ${token}` ? null : { ok: false, error: 'invalid_auth' };
}

/** The channel and what stands in it. */
function openBoard() {
  const posts = new Map<string, SlackPost>();
  let count = 100;

  const faultOf = (body: Body): string | null => {
    const message = body as CheckedMessage;
    if (body['channel'] !== channel && body['channel'] !== '#ops') return 'channel_not_found';
    if (!message.text && !message.attachments?.length) return 'no_text';
    return brokenLimits(message).length > 0 ? 'invalid_blocks' : null;
  };

  const answered = (post: SlackPost): Answer => {
    posts.set(post.ts, post);
    const { ts, text, attachments } = post;
    return { ok: true, channel, ts, message: { text, attachments, type: 'message', ts, bot_id: 'B1' } };
  };

  const contentOf = (body: Body) => {
    const { text = '', attachments } = body as CheckedMessage;
    return { channel, text, attachments, metadata: body['metadata'] };
  };

  return {
    posts: () => [...posts.values()],
    delete: (ts: string) => void posts.delete(ts),
    post: (body: Body): Answer => {
      const error = faultOf(body);
      const threadTs = (body['thread_ts'] as string | undefined) ?? null;
      if (error !== null) return { ok: false, error };
      if (threadTs !== null && !posts.has(threadTs)) return { ok: false, error: 'thread_not_found' };
      count += 1;
      return answered({ ...contentOf(body), ts: `1794348692.000${count}`, threadTs, edits: 0 });
    },
    update: (body: Body): Answer => {
      const error = body['channel'] === '#ops' ? 'channel_not_found' : faultOf(body);
      const before = posts.get(String(body['ts']));
      if (error !== null) return { ok: false, error };
      if (before === undefined) return { ok: false, error: 'message_not_found' };
      return answered({ ...before, ...contentOf(body), edits: before.edits + 1 });
    },
  };
}
