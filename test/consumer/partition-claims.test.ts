// What a consumer claims, renews and lets go of: told by what stands in the ownership and by what is held here.
import type { PartitionOwnership } from '@azure/event-hubs';
import { expect, test } from 'vitest';
import type { BlobReason } from '../../src/blobs/fault.ts';
import {
  type Holding,
  type Owners,
  OwnershipUnknown,
  openClaims,
} from '../../src/consumer/partition-claims.ts';
import { steppedClock } from '../support/clocks.ts';
import { openMemoryOwnership } from '../support/ownership.ts';

const place = ['ns', 'fleet', '$Default'] as const;
const expiryMs = 30_000;

function openWorld(holdings: Record<string, Holding> = {}) {
  const [store, clock] = [openMemoryOwnership(), steppedClock()];
  const told = { lost: [] as string[], owners: [] as Owners[], faults: [] as (BlobReason | null)[] };
  const stands = { at: 7 as number | null };
  const claims = openClaims({
    ...{ ownerId: 'me', store, expiryMs, clock },
    holding: (partition) => holdings[partition] ?? 'none',
    begin: async () => (stands.at === null ? null : { sequenceNumber: stands.at, isInclusive: false }),
    onRound: () => undefined,
    onLost: (partition) => told.lost.push(partition),
    onOwners: (owners) => told.owners.push(owners),
    onFault: (reason) => told.faults.push(reason),
  });
  const { checkpointStore } = claims;
  const list = () => checkpointStore.listOwnership(...place);
  const claim = async (partitionId: string, ownerId = 'me'): Promise<PartitionOwnership[]> => {
    const known = (await list()).find((each) => each.partitionId === partitionId);
    const [fullyQualifiedNamespace, eventHubName, consumerGroup] = place;
    const named = { fullyQualifiedNamespace, eventHubName, consumerGroup };
    const request = { ...named, partitionId, ownerId, ...(known?.etag && { etag: known.etag }) };
    return checkpointStore.claimOwnership([request]);
  };
  return { store, clock, claims, checkpointStore, told, stands, holdings, list, claim };
}

test('a claim sets where reading begins, and a checkpoint is never what decides it', async () => {
  const { claims, claim, checkpointStore } = openWorld();
  expect(await claim('0')).toHaveLength(1);
  expect(claims.startPositions).toEqual({ 0: { sequenceNumber: 7, isInclusive: false } });
  expect(await checkpointStore.listCheckpoints(...place)).toEqual([]);
});

test('what cannot be stored here is not claimed, and left to others', async () => {
  const { stands, claim, store } = openWorld();
  stands.at = null;
  expect(await claim('0')).toEqual([]);
  expect(store.owners()).toEqual({});
});

test('a partition whose last batch is in hand is not claimed anew', async () => {
  const world = openWorld();
  await world.claim('0');
  world.holdings['0'] = 'closing';
  expect(await world.claim('0')).toEqual([]);
  expect(world.store.claims).toBe(1);
});

test('what is owned here and not read shows as free, so that it is read again before it expires', async () => {
  const world = openWorld({ 1: 'held' });
  await world.claim('0');
  await world.claim('1');
  const owners = (await world.list()).map(({ partitionId, ownerId }) => [partitionId, ownerId]);
  expect(owners).toEqual([
    ['0', ''],
    ['1', 'me'],
  ]);
  expect(world.told.owners.at(-1)).toEqual(
    new Map([
      ['0', 'me'],
      ['1', 'me'],
    ]),
  );
});

test('a renewal is written three times in an expiry, however often the SDK asks for it', async () => {
  const world = openWorld({ 0: 'held' });
  await world.claim('0');
  for (let round = 0; round < 12; round++) {
    await world.clock.pass(5_000);
    expect(await world.claim('0')).toHaveLength(1);
  }
  // A minute of rounds: one write every 10 s, and the first.
  expect(world.store.claims).toBe(7);
});

test('a renewal of what somebody else has taken is not believed from memory', async () => {
  const world = openWorld({ 0: 'held' });
  await world.claim('0');
  const [before] = await world.list();
  world.store.give('0', 'other');
  const request = { ...before, ownerId: 'me' } as PartitionOwnership;
  await world.clock.pass(expiryMs);
  expect(await world.checkpointStore.claimOwnership([request])).toEqual([]);
});

test('a partition that is taken back is written, however short its last renewal ago is', async () => {
  const world = openWorld({ 0: 'held' });
  await world.claim('0');
  world.store.give('0', 'other');
  expect(await world.claim('0')).toHaveLength(1);
  expect(world.store.owners()).toEqual({ 0: 'me' });
});

test('another living owner of what is held here ends the reading, a dead or a released one does not', async () => {
  const world = openWorld({ 0: 'held', 1: 'held', 2: 'held' });
  for (const partition of ['0', '1', '2']) await world.claim(partition);
  world.store.aheadMs = -expiryMs;
  world.store.give('0', 'dead');
  world.store.aheadMs = 0;
  world.store.give('1', 'alive');
  world.store.give('2', '');
  await world.list();
  expect(world.told.lost).toEqual(['1']);
  expect(world.told.owners.at(-1)).toEqual(new Map([['1', 'alive']]));
});

test('the age of an ownership is measured by the clock that dates it', async () => {
  for (const aheadMs of [-3_600_000, 0, 3_600_000]) {
    const world = openWorld({ 0: 'held' });
    world.store.aheadMs = aheadMs;
    await world.claim('0');
    const [owned] = await world.list();
    expect(Math.abs(Date.now() - (owned?.lastModifiedTimeInMs ?? 0))).toBeLessThan(5_000);
  }
});

test('once it releases, a consumer claims nothing more and gives back what it has', async () => {
  const world = openWorld({ 0: 'held' });
  await world.claim('0');
  world.claims.release();
  world.holdings['0'] = 'none';
  expect(await world.claim('1')).toEqual([]);
  const mine = (await world.list()).filter(({ ownerId }) => ownerId === 'me');
  expect(mine.map(({ partitionId }) => partitionId)).toEqual(['0']);
  await world.checkpointStore.claimOwnership(mine.map((each) => ({ ...each, ownerId: '' })));
  expect(world.store.owners()).toEqual({ 0: '' });
});

test('a store that does not answer is named, and its own words go nowhere', async () => {
  const world = openWorld();
  world.store.fail('unauthorized');
  await expect(world.list()).rejects.toThrow(OwnershipUnknown);
  world.store.fail(null);
  await world.list();
  expect(world.told.faults).toEqual(['unauthorized', null]);
});
