// Which tests run, and how: files side by side on the two cores of a small machine, each test with its own limit.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // What needs the tools of a distribution: `npm run test:packages`.
    exclude: ['test/packages/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 10_000,
  },
});
