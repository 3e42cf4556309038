// Has the container image built around the executable.
import { join } from 'node:path';
import { type BuildPlan, packageName, pathsOf, projectRoot } from './artefacts.ts';
import { reproducible, runTool } from './tools.ts';

/** @returns the path of the OCI archive @throws PackagingError */
export function buildImage(plan: BuildPlan): string {
  const { executable, licenses, image } = pathsOf(plan);
  const script = join(projectRoot, 'infra/container/build.sh');
  runTool(script, ['--arch', plan.architecture, executable, licenses, image], {
    env: reproducible(plan),
    from: packageName,
  });
  return image;
}
