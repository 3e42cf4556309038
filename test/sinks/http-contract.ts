// What every sink that speaks HTTP must do, against real servers: each such sink's test runs this once.
import { describe } from 'vitest';
import { verifiesCertificates } from './http/certificates.ts';
import { survivesTheNetwork, survivesTheReceiver } from './http/connections.ts';
import { guardsItsSettings, keepsSecrets } from './http/guard.ts';
import { goesThroughProxies } from './http/proxies.ts';
import { honoursRetryAfter, readsEachStatus } from './http/statuses.ts';
import { type HttpSubject, openReceiver } from './http-subject.ts';
import { keepsTheContractOfWaiting, keepsTheSinkContract } from './sink-contract.ts';

/** Runs the contract of sinks, and that of HTTP sinks on top. */
export function keepsTheHttpContract(subject: HttpSubject): void {
  keepsTheSinkContract(subject.type, () => openReceiver(subject));
  keepsTheContractOfWaiting(subject.type, () => openReceiver(subject));
  describe(`the contract of HTTP sinks, kept by ${subject.type}`, () => {
    readsEachStatus(subject);
    honoursRetryAfter(subject);
    survivesTheReceiver(subject);
    survivesTheNetwork(subject);
    verifiesCertificates(subject);
    goesThroughProxies(subject);
    guardsItsSettings(subject);
    keepsSecrets(subject);
  });
}
