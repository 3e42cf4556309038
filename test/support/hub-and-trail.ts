// Compares what a hub holds with what a trail holds of it: event for event, partition for partition.
import { DatabaseSync } from 'node:sqlite';
import { openSqliteTrail } from '../../src/audit/sqlite.ts';
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import { leafHash, leafOf } from '../../src/core/leaf.ts';
import { streamKind } from '../../src/core/stream.ts';
import { emptyTree, growTree, rootOf } from '../../src/core/tree.ts';
import type { EventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';

/** `partition sequenceNumber body`, in the order of each partition. */
export const linesInHub = (emulator: EventHubsEmulator): string[] =>
  emulator.events().map(({ partition, sequenceNumber, body }) => `${partition} ${sequenceNumber} ${body}`);

/** The same of the trail at `path`, in the order of its streams' indexes. */
export function linesInTrail(path: string): string[] {
  using database = new DatabaseSync(path, { readOnly: true });
  const rows = database
    .prepare('SELECT name, idx, seq, body FROM entry JOIN stream ON stream.id = stream ORDER BY name, idx')
    .all();
  const ofHubs = rows.filter(({ name }) => streamKind(String(name)) === 'hub');
  return ofHubs.map(({ name, seq, body }) => {
    const partition = String(name).split('/')[2];
    return `${partition} ${seq} ${Buffer.from(body as Uint8Array).toString('utf8')}`;
  });
}

/**
 * The streams of the trail at `path` whose root is not the one that a single quiet pass over the hub gives, made from
 * what the hub holds and nothing else; a stream may be shorter than the hub.
 */
export async function strayStreams(path: string, emulator: EventHubsEmulator): Promise<string[]> {
  await using source = openSqliteSource(path);
  const hubs = (await source.streams()).filter(({ kind }) => kind === 'hub');
  return hubs.flatMap(({ name, size, root }) => {
    const events = emulator.events().filter(({ partition }) => partition === name.split('/')[2]);
    const leaves = events
      .slice(0, size)
      .map(({ enqueuedAt: enqueuedMs, ...event }) => leafHash(leafOf({ ...event, enqueuedMs })));
    const isSame = root !== null && Buffer.compare(root, rootOf(growTree(emptyTree, leaves))) === 0;
    return isSame ? [] : [name];
  });
}

/** Whether the projections are what the entries give, and every entry is whole. */
export async function isConsistent(path: string): Promise<boolean> {
  await using trail = openSqliteTrail(path);
  const check = await trail.check();
  return check.status === 'checked' && check.different.length === 0 && check.damaged.length === 0;
}

/** The bodies in the trail, stream by stream. */
export function bodiesInTrail(path: string): string[] {
  return linesInTrail(path).map((line) => line.split(' ').slice(2).join(' '));
}
