// Says which packages have code in the bundle, as esbuild has it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The packages that have code in the bundle, as `name@version`, sorted. */
export function bundledPackages({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.keys(output.inputs));
  const folders = new Set(inputs.map(folderOf).filter((folder) => folder !== undefined));
  return [...folders].map(nameAndVersion).toSorted();
}

const folderOf = (input: string): string | undefined =>
  /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];

function nameAndVersion(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  return `${name}@${version}`;
}
