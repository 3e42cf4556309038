// The tests of what is shipped: they need the tools of a Linux distribution, which `install-tools` brings.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../../', import.meta.url)),
    include: ['test/packages/**/*.test.ts'],
    globalSetup: ['test/packages/support/shared-folder.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 240_000,
    teardownTimeout: 20_000,
  },
});
