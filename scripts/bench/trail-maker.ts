// Makes a trail of many entries as a consumer would: signed, sealed and anchored, and the same bodies as one plain file.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import type { TrailStore } from '../../src/audit/store.ts';
import type { HubEvent } from '../../src/core/leaf.ts';
import { listedNote } from '../../src/core/note-list.ts';
import { encodeRecord } from '../../src/core/record.ts';
import { localStreams } from '../../src/core/stream.ts';
import { keeperOf, keyNamed, signWith, startFacts, TrailClock } from '../../test/support/honest-trail.ts';
import { freeze, saying, synthesisAt } from '../../test/support/synthetic.ts';

export interface MadeTrail {
  readonly path: string;
  /** All bodies of the hub's entries, one behind the other. */
  readonly bodies: string;
  readonly anchors: string;
  readonly key: string;
  /** When its last seal was made, epoch ms. */
  readonly at: number;
}

const partitions = 32;
const batchLength = 500;
const agents = 1_000;
const batchesPerSeal = 20;
/** Between two records: a million of them fill 58 days. */
const everyMs = 5_000;

/** @param directory on the disk that is to be measured */
export async function makeTrail(directory: string, entries: number): Promise<MadeTrail> {
  const path = join(directory, `trail-${entries}.db`);
  const [bodies, anchors] = [join(directory, `bodies-${entries}`), join(directory, `seals-${entries}.notes`)];
  const clock = new TrailClock();
  const key = keyNamed('bench.example/trail');
  await using store: TrailStore = openSqliteTrail(path, { sign: signWith(key), now: clock.now });
  const keeper = keeperOf(store, clock, key);
  const raw = createWriteStream(bodies);
  const notes = createWriteStream(anchors);
  const sequences = Array<number>(agents).fill(0);
  const counts = Array<number>(partitions).fill(0);
  await keeper.journal(...startFacts([key.verifier.text]));
  for (let made = 0, batch = 0; made < entries; batch += 1) {
    const partition = batch % partitions;
    const events = Array.from({ length: Math.min(batchLength, entries - made) }, (_, place) =>
      eventOf(made + place, sequences, counts, partition),
    );
    made += events.length;
    clock.at = synthesisAt + made * everyMs;
    await keeper.append(partition, events);
    for (const { body } of events) if (!raw.write(body)) await once(raw, 'drain');
    if (batch % batchesPerSeal === batchesPerSeal - 1 || made === entries) await keeper.seal();
  }
  notes.write(listedNote(await newestHead(store)));
  await Promise.all([raw, notes].map((stream) => new Promise((resolve) => stream.end(resolve))));
  return { path, bodies, anchors, key: key.verifier.text, at: clock.at };
}

/** Each agent tells of one event after another, three records each. */
function eventOf(number: number, sequences: number[], counts: number[], partition: number): HubEvent {
  const vm = number % agents;
  const sequence = (sequences[vm] ?? 0) + 1;
  sequences[vm] = sequence;
  const sequenceNumber = counts[partition] ?? 0;
  counts[partition] = sequenceNumber + 1;
  const kind = (['scheduled', 'started', 'completed'] as const)[sequence % 3] ?? 'scheduled';
  const event = freeze(Math.floor(number / (3 * agents)) * 10 + (vm % 10), { resources: [`web-${vm % 10}`] });
  const record = saying({ kind, vm, sequence, event, after: number * everyMs });
  return { sequenceNumber, enqueuedMs: synthesisAt + number * everyMs, body: encodeRecord(record) };
}

async function newestHead(store: TrailStore): Promise<string> {
  const [trail, heads] = [await store.trail(), await store.heads()];
  if (trail.status !== 'known' || heads.status !== 'known') throw new Error('the trail cannot be read');
  const { seal } = localStreams(trail.trail);
  return heads.heads.find(({ name }) => name === seal)?.note ?? '';
}
