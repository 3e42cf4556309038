// Takes HTTP requests in: tells the VMs apart, writes each request down, and lets faults have their way.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { systemClock } from '../../clock.ts';
import { type HttpHandler, readBody } from '../http-server.ts';
import { type Answer, errorAnswer, type ImdsRequest, jsonAnswer, notFound, send } from './answer.ts';
import type { ImdsFault } from './fault.ts';
import { sendFaulty } from './fault-answer.ts';
import type { RequestLog } from './request-log.ts';
import { type Endpoints, faultPathOf, route } from './router.ts';
import type { Stage } from './stage.ts';
import type { EmulatedVm } from './vm.ts';

export interface Gateway {
  readonly stage: Stage;
  readonly endpoints: Endpoints;
  readonly vms: readonly EmulatedVm[];
  readonly requestLog: RequestLog;
  readonly requestsPerSecondMax: number;
  /** Aborts when the emulator ends. */
  readonly signal: AbortSignal;
}

const bodyBytesMax = 64 * 1024;
// No part of IMDS: whoever tries an agent out sees here what it approved.
const approvalsPath = '/approvals';

/** The handler of the emulator's HTTP server. */
export const handlerOf =
  (gateway: Gateway): HttpHandler =>
  async (incoming, response) => {
    if (incoming.url === approvalsPath) return send(response, jsonAnswer(200, gateway.stage.approvals));
    const at = gateway.stage.now();
    const address = addressOf(incoming, gateway.vms);
    if (address === null) return send(response, notFound);
    const { vm, url } = address;
    const { method = 'GET', headers } = incoming;
    const end = gateway.requestLog.begin({
      method,
      headers,
      vm: vm.name,
      path: url.pathname + url.search,
      at,
    });
    const body = (await readBody(incoming, bodyBytesMax))?.toString('utf8') ?? null;
    const path = url.pathname.replace(/\/+$/, '');
    const request: ImdsRequest = { method, path, query: url.searchParams, headers, body, vm };
    const status = await answer(gateway, request, response, at);
    end(status, gateway.stage.now());
  };

async function answer(
  gateway: Gateway,
  request: ImdsRequest,
  response: ServerResponse,
  at: number,
): Promise<number | null> {
  const limited = isLimited(gateway, request, at);
  const healthy = (): Answer => (limited ? tooMany : route(request, gateway.endpoints));
  const fault = limited ? null : faultFor(gateway.stage, request, at);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, gateway.signal]);
  return sendFaulty(response, fault, healthy, (ms) => systemClock.sleep(ms, signal));
}

function faultFor(stage: Stage, { method, path, vm }: ImdsRequest, at: number): ImdsFault | null {
  const faultPath = faultPathOf(method, path);
  return faultPath === null ? null : stage.faults.take({ vm: vm.name, path: faultPath }, at);
}

const tooMany = errorAnswer(429, 'Too many requests');

/** Managed identity has a limit of its own, which the emulator leaves alone. */
function isLimited(
  { requestLog, requestsPerSecondMax }: Gateway,
  { method, path, vm }: ImdsRequest,
  at: number,
) {
  return faultPathOf(method, path) !== 'token' && requestLog.recent(vm.name, at) > requestsPerSecondMax;
}

/** `/vm/NAME` before the path says which VM asks; without it the first VM does. */
function addressOf(incoming: IncomingMessage, vms: readonly EmulatedVm[]) {
  const url = URL.parse(incoming.url ?? '/', 'http://127.0.0.1');
  if (url === null) return null;
  const [, name, rest] = /^\/vm\/([^/]+)(\/.*)?$/.exec(url.pathname) ?? [];
  const vm =
    name === undefined ? vms[0] : vms.find((candidate) => encodeURIComponent(candidate.name) === name);
  if (vm === undefined) return null;
  if (name !== undefined) url.pathname = rest ?? '/';
  return { vm, url };
}
