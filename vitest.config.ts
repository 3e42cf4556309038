// Which tests run, and how: files side by side on a small machine of two cores, each test with its own limit.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // What needs the tools of a distribution, or servers: `npm run test:packages`, `npm run test:services`.
    exclude: ['test/packages/**', 'test/services/**'],
    pool: 'forks',
    // Half of what tests do is wait: on two cores a third one finds room.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 10_000,
  },
});
