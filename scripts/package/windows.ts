// Packs seb.exe and what makes a service of it as a zip.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildPlan, packageName, pathsOf, projectRoot } from './artefacts.ts';
import { buildExecutable } from './executable.ts';
import { type ZipEntry, zipOf } from './zip.ts';

const source = join(projectRoot, 'infra/windows');

/** Builds the executable, not signed: signing is for whoever publishes it. @returns the path of the zip */
export async function buildWindows(plan: BuildPlan): Promise<string> {
  mkdirSync(plan.outDirectory, { recursive: true });
  await buildExecutable('win-x64', pathsOf(plan).windowsExecutable, plan);
  return packWindows(plan);
}

/** Packs the executable that stands there. @returns the path of the zip */
export function packWindows(plan: BuildPlan): string {
  const { windows, windowsExecutable, licenses } = pathsOf(plan);
  const folder = `${packageName}-${plan.version}`;
  const entry = (name: string, path: string): ZipEntry => ({
    name: `${folder}/${name}`,
    bytes: readFileSync(path),
  });
  const entries = [
    entry('seb.exe', windowsExecutable),
    entry('LICENSES.txt', licenses),
    ...files(source).map((name) => entry(name, join(source, name))),
  ];
  writeFileSync(windows, zipOf(entries, plan.epochSeconds));
  return windows;
}

const files = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((each) => each.isFile())
        .map(({ name }) => name)
        .toSorted()
    : [];
