// Builds what is shipped: `npm run package -- PART...`, one line for each artefact.
import { existsSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import {
  architectures,
  type BuildPlan,
  defaultOutDirectory,
  PackagingError,
  planOf,
} from './package/artefacts.ts';
import { parts } from './package/parts.ts';
import { hasTool } from './package/tools.ts';

const usage = `Usage: npm run package -- [PART]... [--arch x64|arm64] [--node FILE] [--out DIRECTORY]

${parts.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`).join('\n')}

Without a PART: all but the image. A part that needs the executable builds it first.
  --arch   x64 (usual) or arm64
  --node   a Node of this version to put inside, in place of the one from npm
  --out    where to; build/ unless given`;

interface Wish {
  readonly plan: BuildPlan;
  /** Empty for all that can be built here. */
  readonly names: readonly string[];
}

/** @throws PackagingError, and TypeError of `parseArgs` */
function readWish(words: readonly string[]): Wish | null {
  const { values, positionals } = parseArgs({
    args: [...words],
    options: {
      arch: { type: 'string', default: 'x64' },
      node: { type: 'string' },
      out: { type: 'string', default: defaultOutDirectory },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowPositionals: true,
  });
  if (values.help) return null;
  const architecture = architectures.find((each) => each === values.arch);
  if (architecture === undefined)
    throw new PackagingError(`--arch is one of ${architectures.join(', ')}, not "${values.arch}"`);
  const unknown = positionals.find((word) => parts.every(({ name }) => name !== word));
  if (unknown !== undefined)
    throw new PackagingError(
      `there is no part "${unknown}", only ${parts.map(({ name }) => name).join(', ')}`,
    );
  const node = values.node === undefined ? {} : { nodePath: resolve(values.node) };
  return { plan: planOf({ architecture, outDirectory: resolve(values.out), ...node }), names: positionals };
}

async function build({ plan, names }: Wish): Promise<void> {
  const isMeant = (name: string, tool?: string): boolean => {
    if (names.length > 0 || name === 'image') return names.includes(name);
    if (tool === undefined || hasTool(tool)) return true;
    console.log(`${name}: left out, ${tool} is missing here`);
    return false;
  };
  const wanted = parts.filter(({ name, tool }) => isMeant(name, tool));
  const needed = parts.filter(
    (part) => wanted.includes(part) || wanted.some(({ needs }) => needs?.includes(part.name)),
  );
  // Before anything is built: the last part may be minutes away.
  for (const { name, tool } of needed) {
    if (tool !== undefined && !hasTool(tool))
      throw new PackagingError(`${name} needs ${tool}, which is missing here`);
  }
  for (const part of needed) for (const path of await part.build(plan)) console.log(lineOf(path));
}

function lineOf(path: string): string {
  const size = existsSync(path) ? statSync(path).size : 0;
  const spoken = size >= 1e6 ? `${(size / 1e6).toFixed(1)} MB` : `${Math.ceil(size / 1000)} kB`;
  return `${relative(process.cwd(), path)}  ${spoken}`;
}

try {
  const wish = readWish(process.argv.slice(2));
  if (wish === null) console.log(usage);
  else await build(wish);
} catch (error) {
  if (!(error instanceof PackagingError || error instanceof TypeError)) throw error;
  console.error(`package: ${error.message}`);
  process.exitCode = error instanceof PackagingError ? 1 : 2;
}
