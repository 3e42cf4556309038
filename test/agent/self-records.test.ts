// What an agent says of itself: a reader of its heartbeats alone can tell silence from quiet.
import { expect, test } from 'vitest';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { freeze } from '../support/documents.ts';
import { startAgent } from '../support/running-agent.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

test('a heartbeat says how often the agent asks and speaks, what it saw last and when, and of 60 events the first 50', async () => {
  using directory = temporaryDirectory();
  await using imds = await startImdsEmulator();
  const ids = Array.from({ length: 60 }, (_, index) => `event-${String(index).padStart(2, '0')}`);
  imds.show({ DocumentIncarnation: 7, Events: ids.map((EventId) => ({ ...freeze, EventId })) });
  const began = Date.now();
  await using agent = startAgent(directory.path, imds.url, { heartbeatInterval: '1s' });
  const heartbeat = await until('a heartbeat', () =>
    agent.records().find(({ type }) => type.endsWith('.agent.heartbeat.v1')),
  );
  const { document, source, ...data } = heartbeat.data as Record<string, Record<string, unknown>>;
  expect(data).toMatchObject({ pollIntervalMs: 250, heartbeatIntervalMs: 1_000 });
  expect(document).toMatchObject({ incarnation: '7', events: 60 });
  const seen = document?.['seen'] as readonly Record<string, unknown>[];
  expect(seen.map(({ eventId }) => eventId)).toEqual(ids.slice(0, 50));
  const { eventType, eventStatus, firstSeenAt } = seen[0] ?? {};
  expect({ eventType, eventStatus }).toEqual({ eventType: 'Freeze', eventStatus: 'Scheduled' });
  for (const at of [firstSeenAt, source?.['lastDocumentAt']]) {
    expect(Date.parse(String(at))).toBeGreaterThanOrEqual(began);
    expect(Date.parse(String(at))).toBeLessThanOrEqual(Date.parse(heartbeat.time));
  }
});
