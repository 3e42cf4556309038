// The hubs of an emulator: those that were asked for and those that its store holds.
import type { Clock } from '../../clock.ts';
import { EmulatorError } from './emulator-error.ts';
import { createHub, definitionOf, type Hub, type HubDefinition, sameName } from './hub.ts';
import { createFileJournal, createMemoryJournal, type Journal } from './journal.ts';
import type { Retention } from './partition-log.ts';
import { openStoreFile } from './store-file.ts';
import type { StoreRecord } from './store-format.ts';

/** A hub as it is asked for. */
export interface HubRequest {
  readonly name: string;
  /** 4 by default; a stored hub keeps the number that it has. */
  readonly partitions?: number;
  /** Besides `$Default`. */
  readonly consumerGroups?: readonly string[];
}

export interface HubSet {
  readonly hubs: ReadonlyMap<string, Hub>;
  readonly journal: Journal;
}

export interface HubSetOptions {
  readonly requests: readonly HubRequest[];
  readonly storePath: string | undefined;
  readonly retention: Retention;
  readonly clock: Clock;
}

const DEFAULT_PARTITIONS = 4;

/** Event Hubs' own limit of the dedicated tier. */
const PARTITIONS_MAX = 1_024;

function define({ name, partitions = DEFAULT_PARTITIONS }: HubRequest, clock: Clock): HubDefinition {
  if (!/^[A-Za-z0-9](?:[\w.-]{0,254}[A-Za-z0-9])?$/.test(name))
    throw new EmulatorError(`"${name}" cannot be the name of a hub`);
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > PARTITIONS_MAX)
    throw new EmulatorError(`hub ${name} can have 1 to ${PARTITIONS_MAX} partitions, not ${partitions}`);
  return { name, partitionCount: partitions, createdAt: clock.now() };
}

/** Puts what the store holds back where it was. */
function restore(hubs: Map<string, Hub>, record: StoreRecord, retention: Retention): void {
  if (record.kind === 'hub') {
    hubs.set(sameName(record.hub.name), createHub(record.hub, retention));
    return;
  }
  for (const { hub, partition, events } of record.groups)
    hubs.get(sameName(hub))?.partition(partition)?.keep(events);
}

function checkPartitions(hub: Hub, { partitions }: HubRequest): void {
  if (partitions === undefined || partitions === hub.partitionCount) return;
  throw new EmulatorError(
    `the store holds hub ${hub.name} with ${hub.partitionCount} partitions, not ${partitions}`,
  );
}

/** @returns the hubs that are new */
function addRequested(hubs: Map<string, Hub>, options: HubSetOptions): readonly Hub[] {
  const added: Hub[] = [];
  for (const request of options.requests) {
    const stored = hubs.get(sameName(request.name));
    if (stored !== undefined) checkPartitions(stored, request);
    const hub = stored ?? createHub(define(request, options.clock), options.retention);
    if (stored === undefined) added.push(hub);
    hubs.set(sameName(request.name), hub);
    for (const group of request.consumerGroups ?? []) hub.addGroup(group);
  }
  return added;
}

/**
 * Opens the hubs.
 * @throws EmulatorError for a hub that cannot be or a damaged store; the file system's errors
 */
export async function openHubSet(options: HubSetOptions): Promise<HubSet> {
  const hubs = new Map<string, Hub>();
  const { storePath, clock } = options;
  if (storePath === undefined) {
    addRequested(hubs, options);
    return { hubs, journal: createMemoryJournal(clock) };
  }
  await using opening = new AsyncDisposableStack();
  const store = opening.use(
    await openStoreFile(storePath, (record) => restore(hubs, record, options.retention)),
  );
  for (const hub of addRequested(hubs, options)) await store.append({ kind: 'hub', hub: definitionOf(hub) });
  opening.move();
  return { hubs, journal: createFileJournal({ store, hubs, clock }) };
}
