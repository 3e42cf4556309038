// Packs a folder as a tar.gz that is the same whoever packs it, and when.
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { BuildPlan } from './artefacts.ts';
import { runTool } from './tools.ts';

/** @param path of the archive @throws PackagingError */
export async function packFolder(folder: string, path: string, plan: BuildPlan): Promise<void> {
  const plain = `${path}.part`;
  const sameForAll = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--format=gnu'];
  const time = `--mtime=@${plan.epochSeconds}`;
  try {
    runTool('tar', ['--create', '--file', plain, '--directory', folder, ...sameForAll, time, '.']);
    // Not gzip itself, which writes a name and a time.
    const compressed = createGzip({ level: plan.compression === 'best' ? 9 : 1 });
    await pipeline(createReadStream(plain), compressed, createWriteStream(path));
  } finally {
    await rm(plain, { force: true });
  }
}
