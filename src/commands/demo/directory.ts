// The demo's directory: gone when the demo is over, even when the program is cut short.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface DemoDirectory extends Disposable {
  readonly path: string;
}

export function makeDirectory(): DemoDirectory {
  const path = mkdtempSync(join(tmpdir(), 'seb-demo-'));
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  // A second Ctrl-C ends the program on the spot, past everything that is disposed of in order.
  process.on('exit', remove);
  return {
    path,
    [Symbol.dispose]: () => {
      remove();
      process.off('exit', remove);
    },
  };
}
