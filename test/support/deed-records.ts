// Records of what an agent did about the documented event and measured of it, by the code that makes the real ones.
import {
  type ApprovalData,
  approvalRecord,
  type HookData,
  hookRecord,
  type ImpactData,
  impactRecord,
} from '../../src/core/deed.ts';
import type { ScheduledEvent } from '../../src/core/document.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { sampleEvent } from './records.ts';
import { stamp } from './story.ts';

const eventId = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';
const at = Date.parse('2026-11-10T22:12:31.204Z');

/** What a record differs by; `event` what its event does. */
type Change<Data> = Partial<Omit<Data, 'event' | 'observer' | 'agent'>> & {
  readonly event?: Partial<ScheduledEvent>;
};

const eventOf = (change: Partial<ScheduledEvent> = {}): ScheduledEvent =>
  sampleEvent({ eventId, resources: ['WestNO_0'], ...change });

/** A freeze that a rule approves. */
export const approvalOf = (
  { event, ...change }: Change<ApprovalData> = {},
  by = stamp,
): BridgeRecord<ApprovalData> =>
  approvalRecord(
    at,
    {
      event: eventOf(event),
      decision: 'approved',
      reason: 'rule',
      actor: { kind: 'agent', name: null },
      rule: { place: 2, action: 'approve' },
      elected: 'alone',
      answer: { status: 200, attempts: 1 },
      undelivered: [],
      ...change,
    },
    by,
  );

/** A hook that prepares the VM for a reboot, and succeeds. */
export const hookOf = ({ event, ...change }: Change<HookData> = {}, by = stamp): BridgeRecord<HookData> =>
  hookRecord(
    at,
    {
      event: eventOf({ eventType: 'Reboot', durationSeconds: null, ...event }),
      phase: 'prepare',
      hook: '/usr/local/bin/drain.sh',
      outcome: 'succeeded',
      reason: null,
      exitCode: 0,
      signal: null,
      startedAt: '2026-11-10T22:12:29.000Z',
      durationMs: 2_204,
      timeoutMs: 300_000,
      output: 'draining\nall is drained\n',
      outputTruncated: false,
      ending: null,
      ...change,
    },
    by,
  );

/** A freeze that was felt as a pause. */
export const impactOf = (
  { event, ...change }: Change<ImpactData> = {},
  by = stamp,
): BridgeRecord<ImpactData> =>
  impactRecord(
    at,
    {
      event: eventOf(event),
      kind: 'pause',
      measured: { lowerMs: 2_702, upperMs: 2_998 },
      advertisedSeconds: 5,
      window: { from: '2026-11-10T22:11:31.204Z', to: '2026-11-10T22:12:31.204Z' },
      pauses: [{ lowerMs: 2_702, upperMs: 2_998, at: '2026-11-10T22:12:00.000Z' }],
      reboot: null,
      moved: { temporaryDisk: 'kept', faultDomain: { before: '1', after: '1' } },
      ...change,
    },
    by,
  );

/** What a reboot looks like from both of its sides. */
export const rebootImpact = (change: Change<ImpactData> = {}): BridgeRecord<ImpactData> =>
  impactOf({
    event: { eventType: 'Reboot', durationSeconds: null },
    kind: 'reboot',
    measured: { lowerMs: 48_600, upperMs: 60_100 },
    advertisedSeconds: null,
    pauses: [],
    reboot: {
      lastTickAt: '2026-11-10T22:11:31.204Z',
      firstTickAt: '2026-11-10T22:12:31.204Z',
      bootIdBefore: 'boot-0',
      bootIdAfter: 'boot-1',
    },
    ...change,
  });

/** Records that have a value in every place between them. */
export const sampleDeeds = (): readonly BridgeRecord[] => [
  approvalOf(),
  approvalOf({
    decision: 'refused',
    reason: 'prepare-failed',
    rule: { place: 1, action: 'afterHooks' },
    elected: null,
    answer: null,
  }),
  approvalOf({ elected: 'second', undelivered: ['fleet', 'hook'] }),
  approvalOf({
    decision: 'failed',
    reason: 'refused-by-imds',
    actor: { kind: 'person', name: 'alice' },
    rule: null,
    elected: 'person',
    answer: { status: 400, attempts: 3 },
  }),
  hookOf(),
  hookOf({ outcome: 'failed', exitCode: null, signal: 'SIGSEGV', outputTruncated: true }),
  hookOf({ phase: 'recover', outcome: 'timed-out', exitCode: null, ending: 'completed', reason: 'time-out' }),
  impactOf(),
  rebootImpact({ moved: { temporaryDisk: 'gone', faultDomain: { before: '1', after: '0' } } }),
];
