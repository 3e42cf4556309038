// Writes the bills of materials of the executable, as CycloneDX and as SPDX: what npm knows, cut down to what is really in it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import metadata from '../package.json' with { type: 'json' };
import { bundle } from './build.ts';
import { bundledPackages } from './sbom/bundled.ts';
import { cycloneDxOfExecutable } from './sbom/cyclonedx.ts';
import { npmSbom } from './sbom/npm-sbom.ts';
import { partsOfNode } from './sbom/parts-of-node.ts';
import { spdxOfExecutable } from './sbom/spdx.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The two documents, as text, by file name. */
export type BillsOfMaterials = Readonly<Record<string, string>>;

/**
 * Makes both bills of the executable for the Node that runs this script, which is the one it is built with.
 *
 * @param madeAt is in the documents; the same moment and the same lockfile give the same bytes
 */
export async function billsOfMaterials(madeAt: Date): Promise<BillsOfMaterials> {
  const packages = bundledPackages(await metafileOfBundle());
  const parts = { packages, node: partsOfNode(process.versions), version: metadata.version, madeAt };
  const [cycloneDx, spdx] = await Promise.all([npmSbom('cyclonedx', root), npmSbom('spdx', root)]);
  const name = `${metadata.name}-${metadata.version}`;
  return {
    [`${name}.cdx.json`]: textOf(cycloneDxOfExecutable(cycloneDx, parts)),
    [`${name}.spdx.json`]: textOf(spdxOfExecutable(spdx, parts)),
  };
}

const textOf = (document: object): string => `${JSON.stringify(document, null, 2)}\n`;

async function metafileOfBundle() {
  const directory = mkdtempSync(join(tmpdir(), 'seb-sbom-'));
  try {
    return await bundle(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Now, or what a reproducible build says instead: https://reproducible-builds.org/specs/source-date-epoch/ */
function momentOfBuild(): Date {
  const seconds = process.env['SOURCE_DATE_EPOCH'];
  return seconds === undefined ? new Date() : new Date(Number(seconds) * 1000);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'build') } } });
  mkdirSync(values.out, { recursive: true });
  for (const [name, text] of Object.entries(await billsOfMaterials(momentOfBuild()))) {
    writeFileSync(join(values.out, name), text);
    console.log(join(values.out, name));
  }
}
