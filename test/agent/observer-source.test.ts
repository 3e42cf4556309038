// Who the VM is: known as soon as instance metadata says so, and never taken from another boot.
import { expect, test } from 'vitest';
import { openImds } from '../../src/agent/imds.ts';
import { openObserverSource } from '../../src/agent/observer-source.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { openOutbox } from '../support/outboxes.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** A source of the observer over a real outbox, which asks `endpoint`. */
function sourceOf(directory: string, endpoint: string, bootId: string) {
  const { outbox } = openOutbox(directory, []);
  const stopping = new AbortController();
  const imds = openImds({ endpoint, apiVersion: '2020-07-01' });
  const source = openObserverSource({ imds, outbox, bootId, log: recordingLog(), signal: stopping.signal });
  return {
    source,
    stop: () => stopping.abort(),
    [Symbol.dispose]: () => {
      stopping.abort();
      imds[Symbol.dispose]();
      outbox[Symbol.dispose]();
    },
  };
}

const nowhere = 'http://127.0.0.1:1';

test('waiting for the observer ends with the answer, long before its time is up', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  using open = sourceOf(directory.path, imds.url, 'boot');
  const known = open.source.known(3_600_000);
  await open.source.refresh();
  await known;
  expect(open.source.current().vmName).toBe('WestNO_0');
});

test('waiting for an observer that does not come ends with the agent', async () => {
  using directory = temporaryDirectory();
  using open = sourceOf(directory.path, nowhere, 'boot');
  const known = open.source.known(3_600_000);
  open.stop();
  await known;
  await open.source.known(3_600_000);
});

test('waiting for an observer that does not come ends when its time is up', async () => {
  using directory = temporaryDirectory();
  using open = sourceOf(directory.path, nowhere, 'boot');
  await open.source.known(20);
  expect(open.source.current().vmName).toBeNull();
});

test('what was learned in this boot is known at once after a restart, and what another boot learned is not', async () => {
  using directory = temporaryDirectory();
  {
    await using imds = await startImdsEmulator();
    using open = sourceOf(directory.path, imds.url, 'boot');
    await open.source.refresh();
  }
  {
    using same = sourceOf(directory.path, nowhere, 'boot');
    await same.source.known(3_600_000);
    expect(same.source.current().vmName).toBe('WestNO_0');
  }
  using other = sourceOf(directory.path, nowhere, 'another boot');
  expect(other.source.current().vmName).toBeNull();
});
