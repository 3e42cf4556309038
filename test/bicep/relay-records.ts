// Records that say everything there is to say: each life, type and length of an event, and each fixture.
import { readDocument } from '../../src/core/document.ts';
import { agentRecord, type BridgeRecord, eventRecord, factId } from '../../src/core/record.ts';
import { sampleRecords } from '../../src/core/sample-records.ts';
import { fixtureNames, fixtureText } from '../support/documents.ts';
import { announced, begun, lives } from '../support/notices.ts';
import { lastRecord, provenance, stamp, storyBeginsAt, tell } from '../support/story.ts';

/** What `seb sink test` sends. */
export const testRecord = agentRecord('test', storyBeginsAt, { test: true, sink: 'flow' }, stamp);

const types = ['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate', 'Pause'];
const lengths = [0, 5, 30, 60, 90, 3_600, 7_500];

/** Names and records. */
export function relayRecords(): readonly (readonly [string, BridgeRecord])[] {
  return [
    ...Object.entries(lives).map(([name, life]) => [name, lastRecord(life)] as const),
    ...types.flatMap((EventType) => [
      [EventType, ofEvent({ EventType, DurationInSeconds: -1 })] as const,
      [`${EventType} under way`, lastRecord([{ events: [begun({ EventType })], restart: true }])] as const,
    ]),
    ...lengths.map((seconds) => [`${seconds} s`, ofEvent({ DurationInSeconds: seconds })] as const),
    ...['Platform', 'User', 'Somebody', null].map(
      (source) => [`by ${source}`, ofEvent({ EventSource: source })] as const,
    ),
    ...[0, 1, 2, 6, 7, 9].flatMap((count) => [
      [`names ${count} VMs`, ofEvent({ Resources: names(count) })] as const,
      [`names ${count} others`, ofEvent({ Resources: names(count).map((name) => `X${name}`) })] as const,
    ]),
    ...fixtureNames().flatMap((name) => recordsIn(name).map((record) => [name, record] as const)),
    ...sampleRecords().map((record) => [`sample of ${record.type}`, record] as const),
    ['test', testRecord],
  ];
}

const ofEvent = (change: Readonly<Record<string, unknown>>) => lastRecord([{ events: [announced(change)] }]);

const names = (count: number): string[] => Array.from({ length: count }, (_, at) => `WestNO_${at}`);

function recordsIn(fixture: string): BridgeRecord[] {
  const text = fixtureText(fixture);
  if (readDocument(text).status !== 'document') return [];
  const { Events } = JSON.parse(text) as { readonly Events: readonly unknown[] };
  return tell([{ events: Events }]).flatMap(({ observations }) =>
    observations.map((seen) => eventRecord(seen, factId(seen.kind, seen.event), stamp, provenance)),
  );
}
