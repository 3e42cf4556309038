// What the disk itself costs: bytes appended to a file and flushed, with nothing around it.
import { closeSync, fdatasyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A directory on the disk of this checkout, for the system's own temporary one may be no disk at all. */
export function diskDirectory(): Disposable & { readonly path: string } {
  const parent = fileURLToPath(new URL('../../bench-results/', import.meta.url));
  mkdirSync(parent, { recursive: true });
  const path = mkdtempSync(join(parent, 'run-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Opens a file whose `append` returns when the bytes are on disk. */
export function openRawFile(path: string): Disposable & { append(bytes: Buffer): void } {
  const file = openSync(path, 'a');
  return {
    append: (bytes) => {
      writeSync(file, bytes);
      fdatasyncSync(file);
    },
    [Symbol.dispose]: () => closeSync(file),
  };
}
