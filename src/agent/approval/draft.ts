// Makes the draft of an approval's record.
import { type ApprovalData, approvalRecord, type Told } from '../../core/deed.ts';
import type { Observer } from '../../core/observer.ts';
import type { Draft } from '../../delivery/outbox/draft.ts';
import { version } from '../../version.ts';

/**
 * @param at epoch ms
 * @param observer asked when the record is made
 */
export const approvalDraft = (at: number, told: Told<ApprovalData>, observer: () => Observer): Draft => ({
  factId: null,
  // From then on there is no notice left: the VM may be gone within seconds.
  urgent: told.decision === 'approved',
  make: (stamp) => approvalRecord(at, told, { observer: observer(), agent: { version, ...stamp } }),
});
