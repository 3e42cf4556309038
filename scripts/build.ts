// Bundles the program for publishing: CommonJS, with every part that is imported on demand in a file of its own.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Metafile, type OutputFile, type Plugin, transform } from 'esbuild';
import { libraryNames, libraryText } from '../src/emulators/imds/library.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const entry = 'seb';
// Looked for by `ws` and used only where somebody installed them.
const optionalPackages = ['bufferutil', 'utf-8-validate'];

// Our log writes by itself, synchronously. Pino's way to other threads costs every start 7 ms and 1 MB, unused.
const withoutLogTransports: Plugin = {
  name: 'without-log-transports',
  setup: ({ onLoad }) =>
    onLoad({ filter: /pino[\\/]lib[\\/]transport\.js$/ }, () => ({
      contents: `module.exports = () => { throw new Error('the bundle has no log transports'); };`,
    })),
};

/** The library of scenarios is data in a folder; in the bundle it is part of the code, so that it needs no folder. */
const withScenarios: Plugin = {
  name: 'with-scenarios',
  setup: ({ onLoad }) =>
    onLoad({ filter: /emulators[\\/]imds[\\/]library\.ts$/ }, () => {
      const texts = Object.fromEntries(libraryNames().map((name) => [name, libraryText(name)]));
      const contents = `const texts = ${JSON.stringify(texts)};
        export const libraryNames = () => Object.keys(texts);
        export const libraryText = (name) => texts[name];`;
      return { contents };
    }),
};

/**
 * Builds the bundle.
 *
 * esbuild splits only ES modules, and ES modules cost a Node process 10 MB and 20 ms more than CommonJS. So it
 * splits first, which puts what several parts share into one file (one `UsageError`, one `Secret`), and every file
 * is turned into CommonJS after that; an `import()` becomes a `require` at that very moment.
 * @param directory is emptied first
 * @returns what went into which file
 */
export async function bundle(directory: string): Promise<Metafile> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: { [entry]: 'src/cli.ts' },
    outdir: directory,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    outExtension: { '.js': '.cjs' },
    external: optionalPackages,
    plugins: [withoutLogTransports, withScenarios],
    define: { 'import.meta.main': 'true' },
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  for (const file of outputFiles) writeFileSync(file.path, await toCommonJs(file));
  writeFileSync(join(directory, 'THIRD-PARTY-LICENSES.txt'), licensesOf(metafile));
  return metafile;
}

async function toCommonJs({ path, text }: OutputFile): Promise<string> {
  const isEntry = basename(path) === `${entry}.cjs`;
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    target: 'node24',
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': 'importMetaUrl' },
    banner: isEntry ? '#!/usr/bin/env node' : '',
    minifyWhitespace: true,
    minifySyntax: true,
  });
  if (!code.includes('importMetaUrl')) return code;
  return `const importMetaUrl = require('node:url').pathToFileURL(__filename).href;\n${code}`;
}

/** The licences of the packages whose code is in the bundle ask to travel with it. */
function licensesOf(metafile: Metafile): string {
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs: used }) => Object.keys(used));
  const packages = new Set(inputs.map(packageOf).filter((path) => path !== undefined));
  return [...packages]
    .toSorted()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

const packageOf = (input: string): string | undefined =>
  /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];

function licenseOf(path: string): string {
  const folder = join(root, path);
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}

if (import.meta.main) {
  const directory = process.argv[2] ?? join(root, 'dist');
  const { outputs } = await bundle(directory);
  const bytes = Object.values(outputs).reduce((sum, output) => sum + output.bytes, 0);
  console.log(
    `${directory}: ${Object.keys(outputs).length} files, ${Math.round(bytes / 1024)} KiB before minifying`,
  );
}
