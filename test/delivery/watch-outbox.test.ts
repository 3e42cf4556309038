// A person's retry reaches a running agent, however slow IMDS is: the loops, without any poll.
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { deliver } from '../../src/delivery/deliver.ts';
import { silentMeters } from '../../src/delivery/meters.ts';
import {
  type CareState,
  listDeliveries,
  openOutboxForCare,
  retryDeliveries,
} from '../../src/delivery/outbox/care.ts';
import { openWake } from '../../src/delivery/wake.ts';
import { openOutboxWatch } from '../../src/delivery/watch-outbox.ts';
import { silentLog } from '../../src/log.ts';
import { announce, openOutbox } from '../support/outboxes.ts';
import { delivered, scriptedSink } from '../support/scripted-sink.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

test('a suspended sink is tried as soon as a person says so in another process', async () => {
  using directory = temporaryDirectory();
  using open = openOutbox(directory.path, ['a'], { clock: systemClock });
  const sink = scriptedSink('a');
  sink.answer({ status: 'unavailable', reason: 'unauthorized' });
  announce(open.outbox);
  const stop = new AbortController();
  const { signal } = stop;
  const runtime = { outbox: open.outbox, wake: openWake(), clock: systemClock, signal };
  using _watch = openOutboxWatch(runtime);
  const loop = deliver(sink.open, {
    ...runtime,
    attemptSignal: signal,
    log: silentLog,
    meters: silentMeters,
  });
  using database = openOutboxForCare(directory.path);
  if (database === null) throw new Error('the outbox is there');
  const inState = (state: CareState): boolean => listDeliveries(database, { states: [state] }).length === 1;
  await until('the sink to be suspended', () => inState('suspended'));
  sink.answer(delivered);
  retryDeliveries(database, { sink: 'a' }, Date.now());
  await until('the second attempt', () => inState('delivered'));
  stop.abort();
  await loop;
  expect(sink.attempts).toEqual([[1], [1]]);
});
