// A program that copies a trail into a folder in small steps, again and again, until it is killed.
import { openFolderFiles } from '../../../src/audit/archive/folder-files.ts';
import { openArchiveWriter } from '../../../src/audit/archive/writer.ts';
import { openSqliteSource } from '../../../src/audit/sqlite-source.ts';

const [trail = '', folder = '', lengthMax = '1'] = process.argv.slice(2);
const { signal } = new AbortController();

for (;;) {
  const files = openFolderFiles(folder);
  const source = openSqliteSource(trail);
  const result = await openArchiveWriter(files).copy(source, { signal, lengthMax: Number(lengthMax) });
  await source[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
