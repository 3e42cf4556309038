// Says once what changed about sharing the partitions: which are read here, and what stands in the way.
import type { BlobReason } from '../blobs/fault.ts';
import type { Log } from '../log.ts';
import { hubAdviceOf } from './hub-advice.ts';
import type { HubFault } from './hub-fault.ts';
import { ownershipAdviceOf } from './ownership-advice.ts';
import type { Owners } from './partition-claims.ts';
import { needsPerson } from './session-log.ts';

export interface ShareLog {
  owners(owners: Owners): void;
  ownershipFault(reason: BlobReason | null): void;
  checkpointFault(reason: BlobReason | null): void;
  partitionFault(partition: string, fault: HubFault | null): void;
}

/** One line per change. @param instance this consumer, as an owner */
export function openShareLog(log: Log, instance: string): ShareLog {
  const last = new Map<string, string | null>();
  const isNew = (what: string, value: string | null): boolean => {
    const before = last.get(what) ?? null;
    last.set(what, value);
    return before !== value;
  };
  return {
    owners: (owners) => {
      const here = [...owners].filter(([, owner]) => owner === instance).map(([partition]) => partition);
      const partitions = here.sort((one, other) => Number(one) - Number(other)).join(' ');
      if (!isNew('here', partitions)) return;
      log.info({ partitions, consumers: new Set(owners.values()).size }, 'the partitions read here changed');
    },
    ownershipFault: (reason) => {
      if (!isNew('ownership', reason)) return;
      if (reason === null) log.info({}, 'it is known again who reads which partition');
      else {
        const fields = { reason, advice: ownershipAdviceOf(reason) };
        log.error(fields, 'nobody says who reads which partition: what is read here is read on');
      }
    },
    checkpointFault: (reason) => {
      if (!isNew('checkpoints', reason)) return;
      if (reason === null) log.info({}, 'checkpoints are written again');
      else log.warn({ reason }, 'checkpoints are not written: the trail knows better, and goes on');
    },
    partitionFault: (partition, fault) => {
      if (!isNew(`partition ${partition}`, fault)) return;
      if (fault === null) log.info({ partition }, 'the partition is read again');
      else {
        const fields = { partition, fault, advice: hubAdviceOf(fault) };
        log[needsPerson.has(fault) ? 'error' : 'warn'](
          fields,
          'the partition is not read; it is tried again',
        );
      }
    },
  };
}
