// Packs the payload as a tar.gz: for distributions without deb and rpm, and for install.sh.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildPlan, pathsOf, projectRoot } from './artefacts.ts';
import { layOut, type PayloadEntry, payloadOf } from './payload.ts';
import { packFolder } from './tar.ts';

const notes: PayloadEntry = {
  path: 'INSTALL.txt',
  ...{ mode: 0o644, kind: 'file' },
  source: { path: join(projectRoot, 'infra/packages/archive/INSTALL.txt') },
};

/** Builds the archive from the executable that stands beside it. @returns its path @throws PackagingError */
export async function buildArchive(plan: BuildPlan): Promise<string> {
  const { tar } = pathsOf(plan);
  const work = mkdtempSync(join(tmpdir(), 'seb-tar-'));
  try {
    layOut([notes, ...(await payloadOf(plan))], work, plan);
    await packFolder(work, tar, plan);
    return tar;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
