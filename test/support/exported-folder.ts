// A trail as a real store, a real seal and the real export leave it in a folder, to be checked by whoever gets it.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openFolderFiles } from '../../src/audit/archive/folder-files.ts';
import { openArchiveWriter } from '../../src/audit/archive/writer.ts';
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import { localStreams } from '../../src/core/stream.ts';
import type { Keeper } from './honest-trail.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { keptTrail } from './verifying.ts';

export interface ExportedFolder extends Disposable {
  readonly path: string;
  /** What an anchor took, as a file keeps it. */
  readonly anchors: string;
  /** The key that checks it. */
  readonly key: string;
  readonly journal: string;
  readonly seal: string;
  /** A copy of the folder, to be changed. */
  copy(): ExportedFolder;
  read(name: string): string;
  write(name: string, text: string): void;
}

/**
 * @param fill what the consumer did
 * @param change what somebody did to the file of the trail before it was exported
 */
export async function exportedFolder(
  fill?: (keeper: Keeper) => Promise<void>,
  change: (path: string) => void | Promise<void> = () => {},
): Promise<ExportedFolder> {
  using trail = await keptTrail(fill);
  await change(trail.path);
  const directory = temporaryDirectory();
  const path = join(directory.path, 'export');
  await using source = openSqliteSource(trail.path);
  await using files = openFolderFiles(path);
  const { signal } = new AbortController();
  const writer = openArchiveWriter(files);
  let copied = await writer.copy(source, { signal, heads: 'all' });
  while (copied.status === 'more') copied = await writer.copy(source, { signal, heads: 'all' });
  if (copied.status !== 'done') throw new Error(`not exported: ${copied.status}`);
  const { anchored, verifier } = trail.keeper;
  return folderAt(path, directory, {
    anchors: anchored.join(''),
    key: verifier.text,
    ...localStreams(source.trail ?? ''),
  });
}

type Told = Pick<ExportedFolder, 'anchors' | 'key' | 'journal' | 'seal'>;

function folderAt(path: string, owner: Disposable, told: Told): ExportedFolder {
  return {
    path,
    ...told,
    copy: () => {
      const directory = temporaryDirectory();
      const to = join(directory.path, 'export');
      cpSync(path, to, { recursive: true });
      return folderAt(to, directory, told);
    },
    read: (name) => readFileSync(join(path, name), 'utf8'),
    write: (name, text) => writeFileSync(join(path, name), text),
    [Symbol.dispose]: () => owner[Symbol.dispose](),
  };
}
