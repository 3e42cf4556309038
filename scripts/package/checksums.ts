// Writes SHA256SUMS over the artefacts, as `sha256sum --check` and install.sh read it.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildPlan, PackagingError, packageName, pathsOf } from './artefacts.ts';

// The bare executable for Windows is in the zip; what is kept between builds is nobody's business.
const isArtefact = (name: string, { version }: BuildPlan): boolean =>
  /^seb-linux-(x64|arm64)$/.test(name) ||
  (name.startsWith(packageName) && name.includes(version) && !name.endsWith('.part'));

/** One line for each artefact of this version that lies there, of whatever architecture. @throws PackagingError */
export function writeChecksums(plan: BuildPlan): string {
  const { checksums } = pathsOf(plan);
  const names = readdirSync(plan.outDirectory).filter((name) => isArtefact(name, plan));
  if (names.length === 0) throw new PackagingError(`there is nothing to sum up in ${plan.outDirectory}`);
  const line = (name: string): string =>
    `${createHash('sha256')
      .update(readFileSync(join(plan.outDirectory, name)))
      .digest('hex')}  ${name}\n`;
  writeFileSync(checksums, names.toSorted().map(line).join(''));
  return checksums;
}
