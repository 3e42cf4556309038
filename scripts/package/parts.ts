// The parts that can be built, in the order in which they need each other.
import { buildArchive } from './archive.ts';
import { type BuildPlan, pathsOf } from './artefacts.ts';
import { writeChecksums } from './checksums.ts';
import { buildDeb } from './deb.ts';
import { buildExecutable, stripTool } from './executable.ts';
import { buildImage } from './image.ts';
import { buildRpm } from './rpm.ts';
import { buildVmApplication } from './vm-application.ts';
import { buildWindows } from './windows.ts';

export interface Part {
  readonly name: string;
  readonly summary: string;
  /** Parts that have to be built before, in the same run: what lies there may be old. */
  readonly needs?: readonly string[];
  /** The tool without which nothing comes of it. */
  readonly tool?: (plan: BuildPlan) => string;
  /** @returns the artefacts @throws PackagingError */
  build(plan: BuildPlan): Promise<readonly string[]>;
}

export const parts: readonly Part[] = [
  {
    name: 'executable',
    summary: 'seb, in one file with Node inside',
    tool: ({ architecture }) => stripTool(`linux-${architecture}`),
    build: async (plan) => {
      const { executable, licenses } = pathsOf(plan);
      await buildExecutable(`linux-${plan.architecture}`, executable, plan);
      return [executable, licenses];
    },
  },
  {
    name: 'deb',
    summary: 'for Debian and Ubuntu',
    needs: ['executable'],
    tool: () => 'dpkg-deb',
    build: async (plan) => [await buildDeb(plan)],
  },
  {
    name: 'rpm',
    summary: 'for RHEL, Fedora, SLES, Azure Linux',
    needs: ['executable'],
    tool: () => 'rpmbuild',
    build: async (plan) => [await buildRpm(plan)],
  },
  {
    name: 'tar',
    summary: 'for any other Linux with glibc',
    needs: ['executable'],
    build: async (plan) => [await buildArchive(plan)],
  },
  {
    name: 'windows',
    summary: 'seb.exe and what makes a service of it',
    build: async (plan) => [await buildWindows(plan)],
  },
  {
    name: 'vmapp',
    summary: 'for an Azure Compute Gallery: the deb and the rpm with their scripts',
    needs: ['executable', 'deb', 'rpm'],
    tool: () => 'rpmbuild',
    build: async (plan) => [await buildVmApplication(plan)],
  },
  {
    name: 'image',
    summary: 'for containers, as an OCI archive',
    needs: ['executable'],
    tool: () => 'buildah',
    build: async (plan) => [buildImage(plan)],
  },
  {
    name: 'checksums',
    summary: 'SHA256SUMS of what lies there',
    build: async (plan) => [writeChecksums(plan)],
  },
];
