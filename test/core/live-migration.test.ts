// The published documents as they follow one another on a VM: the same story however they are seen.
import { describe, expect, test } from 'vitest';
import { readDocument } from '../../src/core/document.ts';
import { factId } from '../../src/core/record.ts';
import { emptyWatch, observe, type Watch } from '../../src/core/watch.ts';
import { fixtureText, goodDocument } from '../support/documents.ts';

/** Takes the fixtures in as an agent would, one a second, beginning just before the freeze was due. */
function play(names: readonly string[]): string[] {
  let watch: Watch = emptyWatch('boot-1');
  let seenAt: number | null = null;
  const said: string[] = [];
  names.forEach((name, index) => {
    const reading = readDocument(fixtureText(name));
    if (reading.status !== 'document') return;
    const now = Date.parse('2022-04-11T22:26:00Z') + index * 1000;
    const pollGapMs = seenAt === null ? null : now - seenAt;
    const moment = { now, pollGapMs, bootId: 'boot-1', firstSinceStart: seenAt === null };
    const observed = observe(watch, reading.document, moment);
    said.push(...observed.observations.map(({ kind, event }) => factId(kind, event)));
    watch = observed.watch;
    seenAt = now;
  });
  return said;
}

describe('the documented live migration', () => {
  const steps = [
    '03-livemigration-1-empty.json',
    '04-livemigration-2-scheduled.json',
    '05-livemigration-3-started.json',
    '06-livemigration-4-empty.json',
  ];
  const facts = [
    'c7061bac-afdc-4513-b24b-aa5f13a16123_scheduled_e938fc2ef292',
    'c7061bac-afdc-4513-b24b-aa5f13a16123_started',
    'c7061bac-afdc-4513-b24b-aa5f13a16123_completed',
  ];

  test('is scheduled, started, completed and nothing else', () => {
    expect(play(steps)).toEqual(facts);
  });

  test('is the same when every document is seen three times', () => {
    expect(play(steps.flatMap((step) => [step, step, step]))).toEqual(facts);
  });

  test('is the same when an empty body and a torn one come between', () => {
    const noise = ['30-empty-body-first-call.txt', '25-terminate-partial-capture.txt'];
    expect(play(steps.flatMap((step) => [...noise, step, ...noise]))).toEqual(facts);
  });
});

test('the real user reboot, whose Started document nobody saw, is completed though no start was seen', () => {
  const names = ['07-user-reboot-scheduled-2020-07-01.json', '08-user-reboot-after-ack-incarnation-4.json'];
  const scheduled = observe(emptyWatch('a'), goodDocument(fixtureText(names[0] ?? '')), {
    now: Date.parse('2021-07-22T04:36:08Z'),
    pollGapMs: 1000,
    bootId: 'a',
    firstSinceStart: false,
  });
  const gone = observe(scheduled.watch, goodDocument(fixtureText(names[1] ?? '')), {
    now: Date.parse('2021-07-22T04:37:09Z'),
    pollGapMs: 61_000,
    bootId: 'a',
    firstSinceStart: false,
  });
  expect(gone.observations).toMatchObject([
    { kind: 'completed', inferred: true, reason: 'start-not-observed' },
  ]);
});
