// One event hub: its partitions, its consumer groups and who reads what.
import { createReaders, type Readers } from './ownership.ts';
import { partitionOfKey } from './partition-hash.ts';
import { createPartitionLog, type PartitionLog, type Retention } from './partition-log.ts';

export interface HubDefinition {
  readonly name: string;
  readonly partitionCount: number;
  /** Epoch ms. */
  readonly createdAt: number;
}

export interface Hub extends HubDefinition {
  readonly partitions: readonly PartitionLog[];
  partition(id: string): PartitionLog | undefined;
  /** Where events go that name no partition: by key, else in turn. */
  route(partitionKey: string | undefined): PartitionLog;
  hasGroup(name: string): boolean;
  addGroup(name: string): void;
  readers(group: string, partition: string): Readers;
}

/** What has to be written down of a hub to have it again. */
export const definitionOf = ({ name, partitionCount, createdAt }: HubDefinition): HubDefinition => ({
  name,
  partitionCount,
  createdAt,
});

const DEFAULT_GROUP = '$Default';

/** Event Hubs compares the names of hubs and consumer groups without regard to case. */
export const sameName = (name: string): string => name.toLowerCase();

/** @param retention holds for each partition */
export function createHub(definition: HubDefinition, retention: Retention): Hub {
  const partitions = Array.from({ length: definition.partitionCount }, (_, index) =>
    createPartitionLog(String(index), retention),
  );
  const [first] = partitions;
  if (first === undefined) throw new RangeError(`hub ${definition.name} has no partitions`);
  const groups = new Set([sameName(DEFAULT_GROUP)]);
  const readers = new Map<string, Readers>();
  let turn = 0;
  return {
    ...definition,
    partitions,
    partition: (id) => partitions.find((partition) => partition.id === id),
    route(partitionKey) {
      const index = partitionKey === undefined ? turn++ : partitionOfKey(partitionKey, partitions.length);
      return partitions[index % partitions.length] ?? first;
    },
    hasGroup: (name) => groups.has(sameName(name)),
    addGroup: (name) => void groups.add(sameName(name)),
    readers(group, partition) {
      const key = `${sameName(group)}/${partition}`;
      const present = readers.get(key) ?? createReaders();
      readers.set(key, present);
      return present;
    },
  };
}
