// A folder for one run of the suite: what is built in it is built once, whichever test asks first.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    sharedFolder: string;
  }
}

/** Called by vitest before and after all files. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'seb-packages-'));
  project.provide('sharedFolder', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
