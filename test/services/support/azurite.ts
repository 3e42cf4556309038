// A container of its own for each test, in the Azurite of this run.
import { randomUUID } from 'node:crypto';
import { ContainerClient } from '@azure/storage-blob';
import { inject } from 'vitest';

/** A fresh container, gone with the test. */
export interface TestContainer extends AsyncDisposable {
  readonly connectionString: string;
  readonly container: string;
  /** The SDK's own client, to look at it from outside and to break it. */
  readonly client: ContainerClient;
}

export async function openContainer(): Promise<TestContainer> {
  const { connectionString } = inject('azurite');
  const container = `test-${randomUUID()}`;
  const client = new ContainerClient(connectionString, container);
  await client.create();
  return {
    ...{ connectionString, container, client },
    [Symbol.asyncDispose]: async () => void (await client.deleteIfExists()),
  };
}
