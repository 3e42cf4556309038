// The part of the HTTP contract that is about answers: every status, redirects, and how long to wait.
import { expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/delivery.ts';
import { acceptance, delivered, type HttpSubject, openPair, placeOf, retryable } from '../http-subject.ts';
import { expectedAnswers } from './answers.ts';

export function readsEachStatus(subject: HttpSubject): void {
  it.each(expectedAnswers(subject))('understands the status %i as: %s', async (status, _, outcome) => {
    await using pair = await openPair(subject);
    pair.inbox.answer(answerWith(subject, status));
    expect(await pair.send()).toEqual(outcome);
    expect(pair.inbox.requests).toHaveLength(subject.triesTwice?.includes(status) ? 2 : 1);
  });

  it.each(
    expectedAnswers(subject).filter(([, , { status }]) => status === 'retryable' || status === 'unavailable'),
  )('waits as long as a %i asks for', async (status, _, outcome) => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ ...answerWith(subject, status), headers: { 'retry-after': '7' } });
    expect(await pair.send()).toEqual({ ...outcome, retryAfterMs: 7_000 } as Outcome);
  });

  it('never follows a redirect, which could turn the record into an empty GET', async () => {
    await using pair = await openPair(subject);
    const location = `${pair.inbox.url}/elsewhere`;
    pair.inbox.answer({ status: 302, headers: { location } }, { status: 200 });
    await pair.send();
    const seen = pair.inbox.requests.map((request) => `${request.method} ${request.path}`);
    expect(seen).toEqual([`POST ${placeOf(subject).requested}`]);
  });

  it('goes to another connection after a 421', async () => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ status: 421 }, acceptance(subject));
    await pair.send();
    expect([await pair.send(), pair.inbox.connections]).toEqual([delivered, 2]);
  });
}

/** A 2xx comes with the body of one that takes the record; any other status stands for itself. */
const answerWith = (subject: HttpSubject, status: number) =>
  status < 300 ? { ...acceptance(subject), status } : { status };

export function honoursRetryAfter(subject: HttpSubject): void {
  const date = 'Fri, 20 Nov 2026 12:00:00 GMT';

  it.each([
    ['1.5', 1_500],
    ['0', 0],
    ['Fri, 20 Nov 2026 12:05:00 GMT', 300_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['2026-11-20', undefined],
  ])('reads a Retry-After of "%s" as %s ms, by the clock of the receiver', async (value, retryAfterMs) => {
    await using pair = await openPair(subject);
    pair.inbox.answer({ status: 503, headers: { 'retry-after': value, date } });
    const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
    expect(await pair.send()).toEqual({ ...retryable('http-503'), ...asked });
  });
}
