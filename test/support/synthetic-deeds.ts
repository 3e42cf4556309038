// Records of what agents did about the synthetic events, and of themselves, made by the real record builders.
import {
  type ApprovalData,
  approvalRecord,
  type HookData,
  hookRecord,
  type ImpactData,
  impactRecord,
  type Told,
} from '../../src/core/deed.ts';
import type { Observer } from '../../src/core/observer.ts';
import { agentRecord, type BridgeRecord, type Stamp } from '../../src/core/record.ts';
import { freeze, observerOf, synthesisAt } from './synthetic.ts';

/** Who does it, and when. */
export interface Doing {
  readonly vm?: number;
  /** Ms after `synthesisAt`. */
  readonly after?: number;
  readonly sequence?: number;
  readonly observer?: Observer;
}

const stampOf = ({ vm = 0, sequence = 50, observer = observerOf(vm) }: Doing): Stamp => ({
  observer,
  agent: { version: '1.0.0', instanceId: `instance-${vm}`, sequence },
});

const at = ({ after = 0 }: Doing): number => synthesisAt + after;

export const approving = (change: Partial<Told<ApprovalData>> = {}, doing: Doing = {}): BridgeRecord =>
  approvalRecord(
    at(doing),
    {
      ...{ event: freeze(), decision: 'approved', reason: 'rule', actor: { kind: 'agent', name: null } },
      ...{ rule: { place: 1, action: 'approve' }, elected: 'first' },
      ...{ answer: { status: 200, attempts: 1 }, undelivered: [] },
      ...change,
    },
    stampOf(doing),
  );

export const hooking = (change: Partial<Told<HookData>> = {}, doing: Doing = {}): BridgeRecord =>
  hookRecord(
    at(doing),
    {
      ...{ event: freeze(), phase: 'prepare', hook: '/usr/local/bin/drain', outcome: 'succeeded' },
      ...{ reason: null, exitCode: 0, signal: null, startedAt: new Date(at(doing)).toISOString() },
      ...{ durationMs: 1_200, timeoutMs: 60_000, output: 'drained', outputTruncated: false, ending: null },
      ...change,
    },
    stampOf(doing),
  );

export const feeling = (change: Partial<Told<ImpactData>> = {}, doing: Doing = {}): BridgeRecord =>
  impactRecord(
    at(doing),
    {
      ...{ event: freeze(), kind: 'pause', measured: { lowerMs: 6_000, upperMs: 7_000 } },
      ...{ advertisedSeconds: 5, pauses: [], reboot: null },
      window: {
        from: new Date(synthesisAt + 900_000).toISOString(),
        to: new Date(synthesisAt + 960_000).toISOString(),
      },
      moved: { temporaryDisk: 'kept', faultDomain: { before: '0', after: '0' } },
      ...change,
    },
    stampOf(doing),
  );

/** A heartbeat as an agent sends it that polls each second and speaks each hour. */
export const beating = (data: Readonly<Record<string, unknown>> = {}, doing: Doing = {}): BridgeRecord =>
  agentRecord(
    'heartbeat',
    at(doing),
    {
      ...{ uptimeSeconds: 60, pollIntervalMs: 1_000, heartbeatIntervalMs: 3_600_000 },
      source: { state: 'fresh', lastDocumentAt: new Date(at(doing)).toISOString() },
      document: { incarnation: '1', events: 0, seen: [] },
      ...data,
    },
    stampOf(doing),
  );
