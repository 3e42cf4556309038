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
import { type Part, parts } from './package/parts.ts';
import { hasTool } from './package/tools.ts';

const usage = `Usage: npm run package -- [PART]... [--arch x64|arm64] [--node FILE] [--out DIRECTORY]

${parts.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`).join('\n')}

Without a PART: all that can be built here, but the image. A part that needs others builds them first.
Every run ends with checksums.
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
  const needed = withNeeds(names.length === 0 ? allThatCanBe(plan) : namedBy(names, plan));
  // A list that does not fit what lies beside it is worse than none.
  for (const part of parts.filter((each) => needed.includes(each) || each.name === 'checksums'))
    for (const path of await part.build(plan)) console.log(lineOf(path));
}

const withNeeds = (wanted: readonly Part[]): readonly Part[] =>
  parts.filter((part) => wanted.includes(part) || wanted.some(({ needs }) => needs?.includes(part.name)));

/** What cannot be built here, of parts and those that they need, and the tool that is missing for it. */
function missingFor(wanted: readonly Part[], plan: BuildPlan): { name: string; tool: string } | undefined {
  return withNeeds(wanted)
    .map(({ name, tool }) => ({ name, tool: tool?.(plan) ?? '' }))
    .find(({ tool }) => tool !== '' && !hasTool(tool));
}

/** An image needs root as well, so it is built when it is asked for. */
function allThatCanBe(plan: BuildPlan): readonly Part[] {
  const usual = parts.filter(({ name }) => name !== 'image');
  return usual.filter((part) => {
    const missing = missingFor([part], plan);
    if (missing !== undefined) console.log(`${part.name}: left out, ${missing.tool} is missing here`);
    return missing === undefined;
  });
}

/** @throws PackagingError before anything is built: the last part may be minutes away */
function namedBy(names: readonly string[], plan: BuildPlan): readonly Part[] {
  const named = parts.filter(({ name }) => names.includes(name));
  const missing = missingFor(named, plan);
  if (missing !== undefined)
    throw new PackagingError(`${missing.name} needs ${missing.tool}, which is missing here`);
  return named;
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
