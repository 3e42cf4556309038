// Gathers the licences of everything that is inside the executable: they ask to travel with it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageName, projectRoot } from './artefacts.ts';
import { nodeLicensePath } from './node-binary.ts';

const line = '='.repeat(80);

/**
 * One text: of the project itself, of the packages in its bundle, of Node and of what Node is made of.
 * @param ofDependencies what the bundle says of its packages
 */
export function licenses(ofDependencies: string): string {
  const own = readFileSync(join(projectRoot, 'LICENSE'), 'utf8');
  const node = readFileSync(nodeLicensePath, 'utf8');
  return [
    `Copyright and licences of ${packageName}\n\nThe program is one executable, which holds the project itself, packages from npm and Node.js.\n`,
    `The project itself\n\n${own}`,
    `Packages from npm\n\n${ofDependencies}`,
    `Node.js ${process.versions.node}\n\n${node}`,
  ].join(`\n${line}\n\n`);
}
