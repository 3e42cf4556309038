// Packs deb, rpm and their scripts as one archive: an application of an Azure Compute Gallery is one file.
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { type BuildPlan, packageName, pathsOf, projectRoot } from './artefacts.ts';
import { writeChecksums } from './checksums.ts';
import { layOut, type PayloadEntry } from './payload.ts';
import { packFolder } from './tar.ts';

const source = join(projectRoot, 'infra/vm-application');
// Which manage.sh runs: it verifies, tries, and keeps the package before.
const installer = join(projectRoot, 'infra/install.sh');

/** Holds the packages of every architecture that lies there. @returns the path @throws PackagingError */
export async function buildVmApplication(plan: BuildPlan): Promise<string> {
  const { outDirectory, version } = plan;
  const { vmapp } = pathsOf(plan);
  const work = mkdtempSync(join(tmpdir(), 'seb-vmapp-'));
  try {
    const packages = readdirSync(outDirectory).filter(
      (name) =>
        ['.deb', '.rpm'].includes(extname(name)) &&
        new RegExp(`^${packageName}[-_]${version}[-_]`).test(name),
    );
    const own = readdirSync(source).filter((name) => extname(name) === '.sh');
    const scripts = [...own.map((name) => join(source, name)), installer];
    const entries = [
      ...packages.map((name) => entry(join(outDirectory, name), 0o644)),
      ...scripts.map((path) => entry(path, 0o755)),
    ];
    layOut(entries, work, plan);
    chmodSync(writeChecksums({ ...plan, outDirectory: work }), 0o644);
    // The packages are compressed already.
    await packFolder(work, vmapp, { ...plan, compression: 'quick' });
    return vmapp;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const entry = (path: string, mode: number): PayloadEntry => ({
  ...{ path: basename(path), mode, kind: 'file' },
  source: { path },
});
