// The tests against PostgreSQL and storage blobs: they need programs that `install` brings, and start these themselves.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../../', import.meta.url)),
    include: ['test/services/**/*.test.ts'],
    globalSetup: ['test/services/support/global-setup.ts'],
    pool: 'forks',
    // Half of what tests do is wait: on two cores a third one finds room.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
  },
});
