// Makes one executable of the bundle and a Node, so that a machine needs nothing else to run the program.
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundle } from '../build.ts';
import { type BuildPlan, pathsOf, projectRoot } from './artefacts.ts';
import { licenses } from './licenses.ts';
import { findNode, type Platform } from './node-binary.ts';
import { runTool } from './tools.ts';

const loader = join(projectRoot, 'scripts/package/loader.cjs');
const postject = join(projectRoot, 'node_modules/postject/dist/cli.js');
// Node looks for this text to know whether something was put into it (its documentation of single executables).
const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * What Node is told inside the executable.
 * `execArgvExtension: none` shuts NODE_OPTIONS off: without it, a variable of the environment could load code into a
 * service that holds credentials. SIGUSR1 would open a debugger for every user of the machine. Code cache would save
 * 20 ms at each start and make every build another one.
 */
const settings = {
  main: 'loader.cjs',
  output: 'program.blob',
  disableExperimentalSEAWarning: true,
  useSnapshot: false,
  useCodeCache: false,
  execArgv: ['--disable-sigusr1'],
  execArgvExtension: 'none',
};

const bundleFolder = 'bundle';

/** Builds the executable for a platform, and the text of licences beside it. @throws PackagingError */
export async function buildExecutable(platform: Platform, path: string, plan: BuildPlan): Promise<void> {
  const node = findNode(platform, plan);
  const work = mkdtempSync(join(tmpdir(), 'seb-executable-'));
  try {
    await makeBlob(work);
    const executable = join(work, 'executable');
    copyFileSync(node, executable);
    chmodSync(executable, 0o755);
    // Before: it saves 18 MB. After: the executable would not run any more.
    if (platform !== 'win-x64') strip(executable, platform);
    const blob = join(work, settings.output);
    runTool(process.execPath, [postject, executable, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse]);
    mkdirSync(dirname(path), { recursive: true });
    // Away with it first: what runs cannot be written over.
    rmSync(path, { force: true });
    copyFileSync(executable, path);
    chmodSync(path, 0o755);
    const ofDependencies = readFileSync(join(work, bundleFolder, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    writeFileSync(pathsOf(plan).licenses, licenses(ofDependencies));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The paths go into it, so they are relative: another folder shall not make another executable. */
async function makeBlob(work: string): Promise<void> {
  await bundle(join(work, bundleFolder));
  copyFileSync(loader, join(work, settings.main));
  const files = readdirSync(join(work, bundleFolder)).filter((name) => name.endsWith('.cjs'));
  const assets = Object.fromEntries(files.toSorted().map((name) => [name, `${bundleFolder}/${name}`]));
  writeFileSync(join(work, 'sea.json'), JSON.stringify({ ...settings, assets }));
  runTool(process.execPath, ['--experimental-sea-config', 'sea.json'], { cwd: work });
}

/** What strips: the tool of this machine knows this machine's processor, LLVM's knows every one. */
export const stripTool = (platform: Platform): string =>
  platform === `linux-${process.arch}` ? 'strip' : 'llvm-strip';

function strip(executable: string, platform: Platform): void {
  const tool = stripTool(platform);
  runTool(tool, [executable], { from: tool === 'strip' ? 'binutils' : 'llvm' });
}
