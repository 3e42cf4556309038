// Whether `seb current` says what the metadata service announces, or why nothing can be said.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { runCommandLine } from '../support/command-line.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/imds/${name}`, import.meta.url), 'utf8');

const current = (url: string, ...more: string[]) => runCommandLine(['current', '--endpoint', url, ...more]);

it('prints each announced event with the names of the wire in our spelling', async () => {
  await using imds = await startImdsEmulator();
  imds.show(fixture('04-livemigration-2-scheduled.json'));
  const { exitCode, stdout } = await current(imds.url, '-o', 'json');
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    expect.objectContaining({
      eventId: 'C7061BAC-AFDC-4513-B24B-AA5F13A16123',
      eventType: 'Freeze',
      eventStatus: 'Scheduled',
      notBefore: '2022-04-11T22:26:58Z',
      resources: ['WestNO_0', 'WestNO_1'],
      durationSeconds: 5,
    }),
  ]);
});

it('prints an empty list when nothing is announced', async () => {
  await using imds = await startImdsEmulator();
  expect(await current(imds.url, '-o', 'json')).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
});

it('asks once', async () => {
  await using imds = await startImdsEmulator();
  await current(imds.url);
  expect(imds.requests).toHaveLength(1);
});

it.each([
  ['an answer without a body', '', 'waking up'],
  ['an answer that is no document', '<html>', 'something else than a document'],
])('ends with 1 and explains %s', async (_, body, sentence) => {
  await using imds = await startImdsEmulator();
  imds.show(body);
  const run = await current(imds.url);
  expect(run).toMatchObject({ exitCode: 1, stdout: '' });
  expect(run.stderr).toContain(sentence);
});

it('ends with 1 when nobody answers, and with 2 when the address is none', async () => {
  expect(await current('http://127.0.0.1:1')).toMatchObject({
    exitCode: 1,
    stderr: 'seb: http://127.0.0.1:1 refuses connections\n',
  });
  expect(await current('127.0.0.1')).toMatchObject({ exitCode: 2, stdout: '' });
});
