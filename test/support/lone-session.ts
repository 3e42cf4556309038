// What a session needs that reads alone and tells nobody.
import { openPartitionHoldings } from '../../src/consumer/partition-holdings.ts';

const ignore = (): void => undefined;

/** A session's options for one that shares with nobody, without the things that a test is about. */
export const alone = {
  share: null,
  holdings: openPartitionHoldings('test', ignore),
  refused: new Set<string>(),
  onReading: ignore,
  onTrouble: ignore,
  onLook: ignore,
  onPartitionFault: ignore,
  onOwners: ignore,
  onOwnershipFault: ignore,
  onCheckpointFault: ignore,
} as const;
