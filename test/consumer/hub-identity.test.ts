// The consumer without a connection string: a token of the machine's identity, over TLS.
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { runConsumer } from '../../src/consumer/consumer.ts';
import { consumerSettings } from '../../src/consumer/settings.ts';
import { startEventHubsEmulator } from '../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../src/emulators/imds/emulator.ts';
import { silentLog } from '../../src/log.ts';
import { issueCertificate, trust } from '../support/certificate.ts';
import { entriesIn, openSender } from '../support/running-consumer.ts';
import { liveMigration } from '../support/synthetic.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/until.ts';

test('a namespace alone is read with the identity that the client id chooses, and its token not asked for again and again', async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, 'trail.db');
  const tls = issueCertificate();
  using _trusted = trust([tls.cert]);
  await using imds = await startImdsEmulator({
    // So short a life that the SDK, left alone, would ask for another token without a pause.
    identity: { clientIds: ['chosen'], tokenLifetimeMs: 90_000 },
  });
  // Every source of identity but the metadata service is out of the way, and that is on this machine.
  vi.stubEnv('AZURE_POD_IDENTITY_AUTHORITY_HOST', imds.url);
  vi.stubEnv('AZURE_TOKEN_CREDENTIALS', 'ManagedIdentityCredential');
  await using hub = await startEventHubsEmulator({ tls, acceptAnyJwt: true });
  await using sender = openSender(hub);
  await sender.send(liveMigration());

  const { fullyQualifiedNamespace, eventHubName } = hub;
  const settings = consumerSettings.parse({
    hub: { fullyQualifiedNamespace, eventHubName, clientId: 'chosen' },
    trail: { path },
  });
  const stopping = new AbortController();
  const end = runConsumer(settings, {
    ...{ clock: systemClock, log: silentLog, signal: stopping.signal, watchIntervalMs: 300 },
  });
  await entriesIn(path, 3);
  const { managementRequests } = hub.counters;
  await until('more looks of the watchdog', () => hub.counters.managementRequests > managementRequests + 20);
  stopping.abort();
  expect(await end).toEqual({ ok: true });
  const asked = imds.requests.filter(({ path }) => path.startsWith('/metadata/identity/'));
  const queries = asked.map(({ path }) => new URL(path, imds.url).searchParams);
  expect(queries.map((query) => [query.get('resource'), query.get('client_id')])).toContainEqual([
    'https://eventhubs.azure.net/',
    'chosen',
  ]);
  expect(hub.tokens.map(({ type }) => type)).toContain('jwt');
  // One for questions and one for each partition.
  expect(hub.tokens.filter(({ type }) => type === 'jwt')).toHaveLength(5);
  vi.unstubAllEnvs();
});
