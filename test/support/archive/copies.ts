// Trails to copy, and what a trail says, whether it is read from the store or from a copy.
import { expect } from 'vitest';
import { openArchiveSource } from '../../../src/audit/archive/archive-source.ts';
import type { ArchiveFiles } from '../../../src/audit/archive/files.ts';
import { openArchiveWriter } from '../../../src/audit/archive/writer.ts';
import type { SourceFault, TrailSource, TrailStore } from '../../../src/audit/store.ts';
import type { HubEvent } from '../../../src/core/leaf.ts';
import { append, expectStatus, headsOf, inHex, ownStreams, positionIn, stream } from '../trail/world.ts';
import { patience } from './files-contract.ts';

export const dayMs = 24 * 60 * 60 * 1000;
export const firstDay = Date.UTC(2026, 10, 10);

/** An event with a body of its own; every seventh is no UTF-8. */
export const eventAt = (sequenceNumber: number, enqueuedMs: number, padding = 0): HubEvent => ({
  sequenceNumber,
  enqueuedMs,
  body:
    sequenceNumber % 7 === 6
      ? Buffer.from([0xff, 0xfe, sequenceNumber % 256])
      : Buffer.from(`{"record":${sequenceNumber},"text":"ä\u0000\u2028\\"${'x'.repeat(padding)}"}`, 'utf8'),
});

export const eventsFrom = (first: number, count: number, at = firstDay, padding = 0): HubEvent[] =>
  Array.from({ length: count }, (_, place) => eventAt(first + place, at + place, padding));

/** Appends events behind what stands there. */
export async function grow(trail: TrailStore, count: number, at = firstDay, into = stream): Promise<void> {
  const { size } = await positionIn(trail, into);
  expectStatus(await append(trail, eventsFrom(size, count, at + size), into), 'appended');
}

/** Seals everything that changed. */
export async function seal(trail: TrailStore): Promise<void> {
  const own = await ownStreams(trail);
  const heads = (await headsOf(trail)).filter(({ name }) => name !== own.seal);
  expectStatus(await trail.seal(await positionIn(trail, own.seal), heads), 'appended');
}

export interface Content {
  readonly trail: string | null;
  readonly streams: readonly { readonly name: string; readonly size: number }[];
  readonly entries: unknown;
  readonly notes: unknown;
}

/** Everything that a source says, comparable. */
export async function contentOf(source: TrailSource): Promise<Content> {
  const streams = [...(await source.streams())].sort((one, other) => (one.name < other.name ? -1 : 1));
  const [entries, notes] = [new Map<string, unknown[]>(), new Map<string, unknown[]>()];
  for (const { name, kind } of streams) {
    const own: unknown[] = [];
    for await (const chunk of source.entries(name)) own.push(...chunk.map(inHex));
    entries.set(name, own);
    const pinned: unknown[] = [];
    // A copy keeps heads of the trail's own streams that no seal named, too.
    if (kind === 'hub') for await (const chunk of source.notes(name)) pinned.push(...chunk);
    notes.set(name, pinned);
  }
  return {
    trail: source.trail,
    streams: streams.map(({ name, size }) => ({ name, size })),
    entries: Object.fromEntries(entries),
    notes: Object.fromEntries(notes),
  };
}

/** Copies everything that is there now. */
export async function copyTo(files: ArchiveFiles, source: TrailSource): Promise<void> {
  const writer = openArchiveWriter(files);
  for (let calls = 0; calls < 1_000; calls += 1) {
    const result = await writer.copy(source, { signal: patience });
    if (result.status === 'done') return;
    expect(result).toMatchObject({ status: 'more' });
  }
  throw new Error('the copy does not come to an end');
}

/** What a copy says, and what is strange in it. */
export async function readCopy(
  files: ArchiveFiles,
): Promise<{ readonly content: Content; readonly faults: readonly SourceFault[] }> {
  await using source = await openArchiveSource(files);
  const content = await contentOf(source);
  return { content, faults: source.faults?.() ?? [] };
}
