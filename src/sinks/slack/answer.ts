// Reads Slack's answers: what counts is their body, because Slack says no with a 200 and its statuses are not settled.
import { meaningOfStatus, type SlackError, slackErrors } from '../../core/answer-table.ts';
import type { Outcome } from '../../core/delivery.ts';
import { type HttpAnswer, outcomeOf, outcomeOfAnswer, retryAfterMs } from '../http/answer.ts';

/** What the Web API says of a call that it took; texts of Slack, to be cleaned before they are shown. */
export interface SlackResult {
  readonly channel?: string;
  readonly ts?: string;
  readonly team?: string;
  readonly user?: string;
}

/** A call that was taken, or what its refusal means and in which word Slack refused it. */
export type SlackVerdict =
  | { readonly ok: true; readonly result: SlackResult }
  | { readonly ok: false; readonly error: string | null; readonly outcome: Outcome };

/**
 * What an incoming webhook's answer means.
 * Source: docs.slack.dev, "Sending messages using incoming webhooks", handling errors.
 * @param now epoch ms
 */
export function outcomeOfWebhook(answer: HttpAnswer, now: number): Outcome {
  const fields = fieldsOf(answer.body);
  const error = textOf(fields['error']) ?? answer.body.trim();
  const known = outcomeOfError(error, answer, now);
  if (known !== null || !isTaken(answer)) return known ?? byStatus(answer, now);
  return answer.body.trim() === 'ok' ? { status: 'delivered' } : unexpected(answer);
}

/**
 * What an answer of the Web API means.
 * @param now epoch ms
 */
export function verdictOf(answer: HttpAnswer, now: number): SlackVerdict {
  const fields = fieldsOf(answer.body);
  if (isTaken(answer) && fields['ok'] === true) return { ok: true, result: resultOf(fields) };
  const error = textOf(fields['error']);
  const known = error === null ? null : outcomeOfError(error, answer, now);
  const outcome = known ?? (isTaken(answer) ? unexpected(answer) : byStatus(answer, now));
  return { ok: false, error, outcome };
}

const isTaken = ({ status }: HttpAnswer): boolean => meaningOfStatus(status, 'slack') === 'delivered';

/** Null for an error that nobody has told us of: its text must not travel. */
function outcomeOfError(error: string, answer: HttpAnswer, now: number): Outcome | null {
  if (!Object.hasOwn(slackErrors, error)) return null;
  const name = error as SlackError;
  return outcomeOf(slackErrors[name], `slack-${name}`, askedMs(answer, now));
}

function byStatus(answer: HttpAnswer, now: number): Outcome {
  const outcome = outcomeOfAnswer(answer, now, 'slack');
  const asked = askedMs(answer, now);
  if (asked === null || !('reason' in outcome) || outcome.status === 'rejected') return outcome;
  return { ...outcome, retryAfterMs: asked };
}

/** Slack may ask for a wait in the header, in the body, or in both: the longer one is safe. */
function askedMs(answer: HttpAnswer, now: number): number | null {
  const header = retryAfterMs(answer, now);
  const seconds = fieldsOf(answer.body)['retry_after'];
  if (typeof seconds !== 'number' || !(seconds >= 0)) return header;
  return Math.max(header ?? 0, Math.ceil(seconds * 1_000));
}

/** A yes that did not come whole may come whole the next time; one that says something else will say it again. */
const unexpected = ({ cut }: HttpAnswer): Outcome =>
  cut === true
    ? { status: 'retryable', reason: 'connection-reset' }
    : { status: 'rejected', reason: 'unexpected-answer' };

type Fields = Readonly<Record<string, unknown>>;

// What Slack says itself stands before the message that it quotes, which may be longer than what is read of an answer.
const head = /^\s*\{"ok":true,"channel":"(?<channel>\w+)","ts":"(?<ts>[\d.]+)",/;

/** The fields of a JSON object; none for anything else. */
function fieldsOf(body: string): Fields {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? (value as Fields) : {};
  } catch {
    const groups = head.exec(body)?.groups;
    return groups === undefined ? {} : { ok: true, ...groups };
  }
}

function resultOf(fields: Fields): SlackResult {
  const names = ['channel', 'ts', 'team', 'user'] as const;
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(fields[name]);
      return text === null ? [] : [[name, text]];
    }),
  );
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
