// All checks of the Bicep files in one list, and the words they are reported in.
import { completenessFaults } from './completeness.ts';
import { conventionFaults } from './conventions.ts';
import { hardeningFaults } from './hardening.ts';
import { layoutFaults } from './layout.ts';
import { parameterFileFaults } from './parameter-files.ts';
import type { Project } from './project.ts';
import { wiringFaults } from './wiring.ts';

const checks = [
  layoutFaults,
  wiringFaults,
  conventionFaults,
  completenessFaults,
  parameterFileFaults,
  hardeningFaults,
];

/** Every fault of the project, as `path:line says`. */
export const allFaults = (project: Project): string[] =>
  checks.flatMap((check) => check(project)).map(({ path, line, says }) => `${path}:${line} ${says}`);
