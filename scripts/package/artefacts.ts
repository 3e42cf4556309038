// Names, versions and times of what is built, in one place: the parts, their tests and the guides agree on them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../src/version.ts';

export const projectRoot = fileURLToPath(new URL('../../', import.meta.url));
export const packageName = 'scheduled-events-bridge';

export type Architecture = 'x64' | 'arm64';
export const architectures: readonly Architecture[] = ['x64', 'arm64'];

/** What is built, from what, and to where. */
export interface BuildPlan {
  readonly version: string;
  readonly architecture: Architecture;
  readonly outDirectory: string;
  /** A Node to put into the executable in place of the one that npm brought. */
  readonly nodePath?: string;
  /** When everything inside was last changed, s since 1970: the same sources make the same bytes. */
  readonly epochSeconds: number;
  /** `quick` makes larger packages in less time: for tests. */
  readonly compression: 'best' | 'quick';
}

/** A fault of whoever builds, or of the machine: one sentence, no stack. */
export class PackagingError extends Error {}

export const defaultOutDirectory = join(projectRoot, 'build');

/** The plan for what was asked for. @throws PackagingError */
export function planOf(asked: Partial<BuildPlan> = {}): BuildPlan {
  return {
    version,
    architecture: 'x64',
    outDirectory: defaultOutDirectory,
    epochSeconds: epochSeconds(process.env),
    compression: 'best',
    ...asked,
  };
}

const debianNames = { x64: 'amd64', arm64: 'arm64' } as const;
const rpmNames = { x64: 'x86_64', arm64: 'aarch64' } as const;

export const debianArchitecture = ({ architecture }: BuildPlan): string => debianNames[architecture];
export const rpmArchitecture = ({ architecture }: BuildPlan): string => rpmNames[architecture];

/** Where each artefact goes; their names are what the release, the installers and the guides call them. */
export function pathsOf(plan: BuildPlan) {
  const { version: number, architecture, outDirectory } = plan;
  const at = (name: string): string => join(outDirectory, name);
  return {
    executable: at(`seb-linux-${architecture}`),
    windowsExecutable: at('seb-windows-x64.exe'),
    deb: at(`${packageName}_${number}_${debianArchitecture(plan)}.deb`),
    rpm: at(`${packageName}-${number}-1.${rpmArchitecture(plan)}.rpm`),
    tar: at(`${packageName}-${number}-linux-${architecture}.tar.gz`),
    windows: at(`${packageName}-${number}-windows-x64.zip`),
    vmapp: at(`${packageName}-${number}-vmapp-linux.tar.gz`),
    image: at(`${packageName}-${number}-image-linux-${architecture}.tar`),
    licenses: at('LICENSES.txt'),
    checksums: at('SHA256SUMS'),
    cache: at('cache'),
  };
}

export const changelogPath = join(projectRoot, 'infra/packages/changelog');

/** The time of the newest entry of the changelog, unless `SOURCE_DATE_EPOCH` says another. @throws PackagingError */
function epochSeconds({ SOURCE_DATE_EPOCH: given }: NodeJS.ProcessEnv): number {
  if (given !== undefined) {
    if (!/^\d{1,10}$/.test(given)) throw new PackagingError('SOURCE_DATE_EPOCH is no number of seconds');
    return Number(given);
  }
  const date = /^ -- .*> {2}(.+)$/m.exec(readFileSync(changelogPath, 'utf8'))?.[1];
  const time = Date.parse(date ?? '');
  if (Number.isNaN(time)) throw new PackagingError('the changelog of the packages has no date');
  return time / 1000;
}
