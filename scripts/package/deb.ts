// Packs the payload as a .deb, with dpkg-deb.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BuildPlan, debianArchitecture, packageName, pathsOf, projectRoot } from './artefacts.ts';
import { layOut, type PayloadEntry, payloadOf } from './payload.ts';
import { reproducible, runTool } from './tools.ts';

const scripts = ['postinst', 'prerm', 'postrm'];

/** Builds the .deb from the executable that stands beside it. @returns its path @throws PackagingError */
export async function buildDeb(plan: BuildPlan): Promise<string> {
  const { deb } = pathsOf(plan);
  const work = mkdtempSync(join(tmpdir(), 'seb-deb-'));
  try {
    const entries = [...(await payloadOf(plan)), ...lintianOverrides()];
    const tree = join(work, 'tree');
    layOut(entries, tree, plan);
    layOut(control(entries, tree, plan), tree, plan);
    const packed = join(work, 'packed.deb');
    // Xz, which every dpkg in use can read; the one of Debian 11 knows no zstd.
    const compression = plan.compression === 'best' ? ['-Zxz', '-z6'] : ['-Zgzip', '-z1'];
    const args = ['--root-owner-group', ...compression, '--build', tree, packed];
    runTool('dpkg-deb', args, { env: reproducible(plan), from: 'dpkg' });
    copyFileSync(packed, deb);
    return deb;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** What dpkg reads of the package itself. */
function control(entries: readonly PayloadEntry[], tree: string, plan: BuildPlan): PayloadEntry[] {
  const file = (name: string, bytes: Buffer, mode = 0o644): PayloadEntry => ({
    ...{ path: `DEBIAN/${name}`, mode, kind: 'file' },
    source: { bytes },
  });
  const script = (name: string) =>
    file(name, readFileSync(join(projectRoot, 'infra/packages/deb', name)), 0o755);
  return [
    file('control', Buffer.from(controlFields(entries, tree, plan))),
    file('md5sums', Buffer.from(digests(entries, tree))),
    ...scripts.map(script),
  ];
}

const files = (entries: readonly PayloadEntry[]): string[] =>
  entries.filter(({ kind }) => kind === 'file').map(({ path }) => path);

const digests = (entries: readonly PayloadEntry[], tree: string): string =>
  files(entries)
    .toSorted()
    .map(
      (path) =>
        `${createHash('md5')
          .update(readFileSync(join(tree, path)))
          .digest('hex')}  ${path}\n`,
    )
    .join('');

/** In KiB, each file by itself and 1 for anything else, as Debian's policy counts (5.6.20). */
const installedSize = (entries: readonly PayloadEntry[], tree: string): number =>
  entries
    .map(({ path, kind }) => (kind === 'file' ? Math.ceil(readFileSync(join(tree, path)).length / 1024) : 1))
    .reduce((sum, size) => sum + size, 0);

function controlFields(entries: readonly PayloadEntry[], tree: string, plan: BuildPlan): string {
  const template = readFileSync(join(projectRoot, 'infra/packages/deb/control'), 'utf8');
  const values: Readonly<Record<string, string>> = {
    package: packageName,
    version: plan.version,
    architecture: debianArchitecture(plan),
    installedSize: String(installedSize(entries, tree)),
  };
  return template.replace(/@(\w+)@/g, (_, name: string) => values[name] ?? '');
}

const lintianOverrides = (): PayloadEntry[] => [
  {
    path: `usr/share/lintian/overrides/${packageName}`,
    ...{ mode: 0o644, kind: 'file' },
    source: { path: join(projectRoot, 'infra/packages/deb/lintian-overrides') },
  },
];
