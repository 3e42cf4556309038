// A small trail that is the same each time it is made: the examples on docs/trail-format.md are cut out of it.
import { openFolderFiles } from '../../../src/audit/archive/folder-files.ts';
import { openArchiveWriter } from '../../../src/audit/archive/writer.ts';
import { base64 } from '../../../src/core/base64.ts';
import { checkpointText } from '../../../src/core/checkpoint.ts';
import { signerOf } from '../../../src/core/note-key.ts';
import { signNote } from '../../../src/core/signed-note.ts';
import { streamName } from '../../../src/core/stream.ts';
import { rootOf } from '../../../src/core/tree.ts';
import { type TemporaryDirectory, temporaryDirectory } from '../temporary-directory.ts';
import { sqliteWorld } from '../trail/sqlite-world.ts';
import { append, headOf, idOf } from '../trail/world.ts';
import { seal } from './copies.ts';
import { patience } from './files-contract.ts';

export const exampleSigner = signerOf('trail.example', Buffer.alloc(32, 7));
export const exampleTrail = '6f1c4f5e-0b7a-4c1e-9d55-3f0a2b1c7d10';
export const exampleStream = streamName({
  ...{ namespace: 'ns.servicebus.windows.net', hub: 'scheduled-events', partition: '0' },
  hubCreatedAt: Date.UTC(2026, 10, 10, 22, 27, 4, 118),
});

const startedAt = Date.UTC(2026, 10, 20, 9);

/** The trail, and an export of it in a folder that goes with it. */
export async function exampleExport(): Promise<TemporaryDirectory & { readonly trail: string }> {
  const directory = temporaryDirectory();
  await using world = sqliteWorld();
  await using trail = await world.open({
    now: () => startedAt + 60_000,
    sign: (origin, tree) => signNote(checkpointText(origin, tree), [exampleSigner]),
  });
  await idOf(trail);
  await world.tamper(`UPDATE trail SET id = '${exampleTrail}'`);
  const bodies = [Buffer.from('pruned by now'), Buffer.from('{"text":"naïve"}'), Buffer.of(0xff, 0x00)];
  const event = (place: number) => ({
    ...{ sequenceNumber: 41 + place, enqueuedMs: startedAt + place },
    body: bodies[place] ?? Buffer.alloc(0),
  });
  await append(trail, [event(0), event(1), event(2)], exampleStream);
  // As pruning does it, whatever store there is.
  const { size, tree } = await headOf(trail, exampleStream);
  const root = base64(rootOf(tree));
  await trail.journal([{ kind: 'pruned', stream: exampleStream, from: 0, to: 0, size, root }]);
  await world.tamper('UPDATE entry SET body = NULL WHERE seq = 41');
  await seal(trail);
  await using source = await world.source();
  await using files = openFolderFiles(directory.path);
  const result = await openArchiveWriter(files).copy(source, { signal: patience, heads: 'all' });
  if (result.status !== 'done') throw new Error(result.status);
  return { path: directory.path, trail: exampleTrail, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}
