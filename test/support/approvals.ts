// What the tests of approvals share: an event as IMDS shows it, settings that approve, and the records that tell of it.
import type { ApprovalData } from '../../src/core/deed.ts';
import type { BridgeRecord } from '../../src/core/record.ts';

export const eventId = 'C7061BAC-AFDC-4513-B24B-AA5F13A16123';

/** A restart that a user asked for, an hour ahead, in a document. */
export const documentWith = (...changes: readonly object[]): object => ({
  DocumentIncarnation: changes.length + 1,
  Events: changes.map((change) => ({
    EventId: eventId,
    EventStatus: 'Scheduled',
    EventType: 'Reboot',
    ResourceType: 'VirtualMachine',
    Resources: ['WestNO_0'],
    NotBefore: new Date(Date.now() + 3_600_000).toUTCString(),
    Description: '',
    EventSource: 'User',
    DurationInSeconds: -1,
    ...change,
  })),
});

/** Settings that approve what a rule says, restarts by users unless given. */
export const approving = (more: object = {}, match: object = { sources: ['User'] }): object => ({
  approval: { enabled: true, rules: [{ match, action: 'approve' }], ...more },
});

/** The approval records among these. */
export const approvalsAmong = (records: readonly BridgeRecord[]): ApprovalData[] =>
  records
    .filter(({ type }) => type === 'io.github.scheduled-events-bridge.approval.v1')
    .map(({ data }) => data as ApprovalData);
