// Real artefacts for tests, each built once in a run of the suite, by the code that builds what is shipped.
import { existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { buildArchive } from '../../../scripts/package/archive.ts';
import { type BuildPlan, pathsOf, planOf } from '../../../scripts/package/artefacts.ts';
import { buildDeb } from '../../../scripts/package/deb.ts';
import { buildExecutable } from '../../../scripts/package/executable.ts';
import { buildRpm } from '../../../scripts/package/rpm.ts';
import { until } from '../../support/until.ts';

export type BuiltPart = 'executable' | 'deb' | 'rpm' | 'tar';

const patienceMs = 200_000;

/** The plan of these artefacts: compressed quickly, or a run would last minutes. */
export const sharedPlan = (): BuildPlan =>
  planOf({ outDirectory: join(inject('sharedFolder'), 'build'), compression: 'quick' });

/** A plan with the same executable in another folder: what is built by it must come out the same. */
export function planElsewhere(folder: string): BuildPlan {
  const plan = planOf({ outDirectory: join(folder, 'again'), compression: 'quick' });
  mkdirSync(plan.outDirectory);
  const [from, to] = [pathsOf(sharedPlan()), pathsOf(plan)];
  linkSync(from.executable, to.executable);
  linkSync(from.licenses, to.licenses);
  return plan;
}

/** Builds a part, or waits for the worker that builds it. @returns its path */
export async function built(part: BuiltPart): Promise<string> {
  const plan = sharedPlan();
  if (part !== 'executable') await built('executable');
  const path = pathsOf(plan)[part];
  mkdirSync(plan.outDirectory, { recursive: true });
  const done = `${path}.done`;
  const claim = `${path}.claim`;
  if (claimed(claim)) {
    await build(part, plan).catch((error: unknown) => {
      rmSync(claim);
      throw error;
    });
    writeFileSync(done, '');
  }
  await until(`${part} is built`, () => existsSync(done) || !existsSync(claim), patienceMs);
  if (!existsSync(done)) throw new Error(`${part} could not be built: another test says why`);
  return path;
}

/** Only one worker can make the file. */
function claimed(path: string): boolean {
  try {
    writeFileSync(path, '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

async function build(part: BuiltPart, plan: BuildPlan): Promise<unknown> {
  if (part === 'executable') return buildExecutable('linux-x64', pathsOf(plan).executable, plan);
  if (part === 'deb') return buildDeb(plan);
  return part === 'rpm' ? buildRpm(plan) : buildArchive(plan);
}
