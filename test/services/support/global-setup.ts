// Starts what the suite runs against, once for all its files; each service has a file of its own.
import type { TestProject } from 'vitest/node';
import { startAzurite } from './azurite-server.ts';
import { startPostgres } from './postgres-server.ts';

/** Called by vitest before and after all files. A program that is missing fails the run: nothing is skipped. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using services = new AsyncDisposableStack();
  // Each is in `services` before the next one starts: a start that fails leaves none behind.
  const azurite = services.use(await startAzurite());
  project.provide('azurite', azurite.address);
  const postgres = services.use(await startPostgres());
  project.provide('postgres', postgres.address);
  const running = services.move();
  return () => running.disposeAsync();
}
