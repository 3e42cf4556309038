// The trap of short tokens: the Event Hubs SDK renews one with less than two minutes left without a pause.
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startEventHubsEmulator } from '../../../src/emulators/eventhubs/emulator.ts';
import { startImdsEmulator } from '../../../src/emulators/imds/emulator.ts';
import { openPassingMemory } from '../../../src/sinks/memory.ts';
import { issueCertificate, trust } from '../../support/certificate.ts';
import { outgoing, sampleRecord } from '../../support/records.ts';
import { openFromSettings, patience } from '../sink-contract.ts';

it('signs in once with a token that is nearly over, and not without end', async () => {
  const tls = issueCertificate();
  using _trust = trust([tls.cert]);
  await using imds = await startImdsEmulator({ identity: { tokenLifetimeMs: 90_000 } });
  await using hub = await startEventHubsEmulator({ tls, acceptAnyJwt: true });
  const { fullyQualifiedNamespace, eventHubName } = hub;
  const { sink } = openFromSettings(
    { type: 'eventhubs', fullyQualifiedNamespace, eventHubName },
    { imdsEndpoint: imds.url, version: '1.0.0', memory: openPassingMemory() },
  );
  await using _sink = sink;
  expect(await sink.send(outgoing(sampleRecord()), patience())).toEqual({ status: 'delivered' });
  const before = hub.tokens.length;
  // Long enough for dozens of renewals, were there any.
  await delay(1_000);
  expect(hub.tokens.length).toBe(before);
});
