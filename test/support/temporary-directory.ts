// A directory that is gone after the test.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryDirectory extends Disposable {
  readonly path: string;
}

/** @param parent where it is; the system's own place for such unless given */
export function temporaryDirectory(parent: string = tmpdir()): TemporaryDirectory {
  const path = mkdtempSync(join(parent, 'seb-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
