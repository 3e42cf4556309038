// Bundles a program for tests that start it again and again: from its sources each start costs a second of a core.
import { join } from 'node:path';
import { build } from 'esbuild';

// Looked for by libraries, and used only where somebody installed them.
const optionalPackages = ['bufferutil', 'utf-8-validate', 'pg-native', 'pg-cloudflare'];
const banner =
  'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);';

/**
 * @param source a TypeScript file
 * @param directory where the bundle is written
 * @returns the path of the bundle, one ES module
 */
export async function bundledChild(source: string, directory: string): Promise<string> {
  const outfile = join(directory, 'child.mjs');
  await build({
    ...{ entryPoints: [source], outfile, bundle: true, platform: 'node', format: 'esm', target: 'node24' },
    ...{ external: optionalPackages, banner: { js: banner }, logLevel: 'warning' },
  });
  return outfile;
}
