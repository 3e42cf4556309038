// READ FIRST. Azure's instance metadata service on 127.0.0.1, with scripted events: its wiring and its API.
import { setMaxListeners } from 'node:events';
import { type Log, silentLog } from '../../log.ts';
import { startHttpServer } from '../http-server.ts';
import type { FaultScope, ImdsFault } from './fault.ts';
import { handlerOf } from './gateway.ts';
import { issueToken, type ManagedIdentityOptions } from './managed-identity.ts';
import { play } from './player.ts';
import { createRequestLog, type RecordedRequest } from './request-log.ts';
import type { Endpoints } from './router.ts';
import type { Scenario } from './script.ts';
import { createStage, type RecordedApproval, type Stage } from './stage.ts';
import { completeVm, type EmulatedVm, scaleSetVms, type VmDescription } from './vm.ts';

export interface ImdsEmulatorOptions {
  /** Any free one unless given. */
  readonly port?: number;
  /** The VMs of one placement group; `WestNO_0` alone unless given. */
  readonly vms?: readonly VmDescription[];
  /** Scenarios run so many times faster, the announced notice included. */
  readonly speed?: number;
  /** A VM that asks more often gets 429. Azure allows 5; no limit unless given. */
  readonly requestsPerSecondMax?: number;
  /** Tokens are good for 24 hours, for any client id, unless given. */
  readonly identity?: Partial<ManagedIdentityOptions>;
  readonly log?: Log;
}

export interface ImdsEmulator extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`: acts as the first VM. */
  readonly url: string;
  /** `http://127.0.0.1:PORT/vm/NAME`: what `imds.endpoint` of that VM's agent is. */
  endpointOf(vmName: string): string;
  readonly vms: readonly EmulatedVm[];
  /** The body that a poll gets now. */
  document(apiVersion?: string): string;
  /** Puts this body on the wire as it is, whatever the api-version, until a scenario changes the document. */
  show(body: object | string): void;
  /** @returns when the last step is taken and the last event is gone, or when `signal` aborts */
  play(scenario: Scenario, options?: { readonly signal?: AbortSignal }): Promise<void>;
  inject(fault: ImdsFault, scope?: FaultScope): void;
  /** The latest 10,000, oldest first. */
  readonly requests: readonly RecordedRequest[];
  /** The latest 10,000, oldest first. */
  readonly approvals: readonly RecordedApproval[];
}

const tokenLifetimeMsDefault = 24 * 60 * 60 * 1000;

/**
 * Starts the emulator; disposing it ends every connection and every scenario.
 * @throws the system's error when the port is taken
 */
export async function startImdsEmulator(options: ImdsEmulatorOptions = {}): Promise<ImdsEmulator> {
  const life = new AbortController();
  // Every request under way listens to it.
  setMaxListeners(0, life.signal);
  const vms = (options.vms ?? scaleSetVms(1)).map(completeVm);
  const stage = createStage(options.speed ?? 1, options.log ?? silentLog);
  const requestLog = createRequestLog();
  const requestsPerSecondMax = options.requestsPerSecondMax ?? Number.POSITIVE_INFINITY;
  const endpoints = endpointsOf(stage, options.identity);
  const gateway = { stage, endpoints, vms, requestLog, requestsPerSecondMax, signal: life.signal };
  const server = await startHttpServer(handlerOf(gateway), options.port);
  return {
    url: server.url,
    endpointOf: (vmName) => `${server.url}/vm/${encodeURIComponent(vmName)}`,
    vms,
    document: (apiVersion = '2020-07-01') => stage.body(apiVersion),
    show: (body) => stage.show(typeof body === 'string' ? body : JSON.stringify(body)),
    play: (scenario, { signal = life.signal } = {}) =>
      play(scenario, stage, AbortSignal.any([signal, life.signal])),
    inject: (fault, scope = {}) => stage.inject(fault, scope),
    requests: requestLog.requests,
    approvals: stage.approvals,
    [Symbol.asyncDispose]: async () => {
      life.abort();
      await server[Symbol.asyncDispose]();
    },
  };
}

function endpointsOf(stage: Stage, identity: ImdsEmulatorOptions['identity']): Endpoints {
  const identityOptions = { tokenLifetimeMs: tokenLifetimeMsDefault, ...identity };
  return {
    document: (apiVersion) => stage.body(apiVersion),
    approve: (eventIds, vm) => stage.approve(eventIds, vm),
    token: (request) => issueToken(request, identityOptions, stage.now()),
  };
}
