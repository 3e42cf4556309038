// What tests of notices need: their settings, a fleet that tells of now, and what came of it in an inbox and the journal.
import { openSqliteSource } from '../../src/audit/sqlite-source.ts';
import {
  emptyStream,
  type StreamPosition,
  type TrailSource,
  type TrailStore,
} from '../../src/audit/store.ts';
import { consumerSettingsFor, type NotifySettings } from '../../src/consumer/settings.ts';
import { impactRecord } from '../../src/core/deed.ts';
import type { ScheduledEvent } from '../../src/core/document.ts';
import { type JournalEntry, journalEntryOf } from '../../src/core/journal.ts';
import { type BridgeRecord, type EventData, encodeRecord } from '../../src/core/record.ts';
import type { Inbox } from './inbox.ts';
import type { RunningConsumer } from './running-consumer.ts';
import { freeze, observerOf, type Saying, saying, synthesisAt } from './synthetic.ts';
import { until } from './until.ts';

/** The `notify` of a consumer, with every default. */
export async function notifySettings(given: object): Promise<NotifySettings> {
  const imds = { endpoint: 'http://127.0.0.1:9' };
  const notify = { imds, groupWait: '50ms', ...given };
  const hub = { connectionString: 'unused', eventHubName: 'unused' };
  const settings = (await consumerSettingsFor({ notify })).parse({ hub, notify });
  if (settings.notify === undefined) throw new Error('notify was given');
  return settings.notify;
}

/** A webhook sink in front of an inbox. */
export const hookTo = (inbox: Inbox, more: object = {}): object => ({
  ...{ type: 'webhook', url: `${inbox.url}/hook`, allowHttp: true },
  ...more,
});

/** What one VM says of an event, now. */
export const sayingNow = (what: Omit<Saying, 'after'>): BridgeRecord<EventData> =>
  saying({ ...what, after: Date.now() - synthesisAt });

/** A live migration that VMs tell of now: each of its three facts by each of them. */
export function migrationNow(
  event: number,
  vms: number,
  change: Partial<ScheduledEvent> = {},
): BridgeRecord[] {
  const started = { ...change, eventStatus: 'Started' };
  const witnesses = Array.from({ length: vms }, (_, vm) => vm);
  return [
    ...witnesses.map((vm) => sayingNow({ event: freeze(event, change), kind: 'scheduled', vm, sequence: 1 })),
    ...witnesses.map((vm) => sayingNow({ event: freeze(event, started), kind: 'started', vm, sequence: 2 })),
    ...witnesses.map((vm) =>
      sayingNow({ event: freeze(event, started), kind: 'completed', vm, sequence: 3 }),
    ),
  ];
}

/** What one VM measured of an event, now. */
export function impactNow(event: number): BridgeRecord {
  const at = Date.now();
  const [from, to] = [new Date(at - 60_000).toISOString(), new Date(at).toISOString()];
  const temporaryDisk = 'unknown';
  return impactRecord(
    at,
    {
      ...{ event: freeze(event), kind: 'none', measured: null, advertisedSeconds: 5, window: { from, to } },
      ...{ pauses: [], reboot: null, moved: { temporaryDisk, faultDomain: { before: null, after: null } } },
    },
    { observer: observerOf(0), agent: { version: '1.0.0', instanceId: 'instance-0', sequence: 9 } },
  );
}

/** The records in an inbox, in the order in which they came. */
export const recordsIn = (inbox: Inbox): BridgeRecord[] =>
  inbox.requests.map(({ body }) => JSON.parse(body.toString('utf8')) as BridgeRecord);

export const idsIn = (inbox: Inbox): string[] => recordsIn(inbox).map(({ id }) => id);

/** The facts of one kind in the journal of a trail. */
export async function journalOf<Kind extends JournalEntry['kind']>(
  source: TrailSource,
  kind: Kind,
): Promise<Extract<JournalEntry, { kind: Kind }>[]> {
  const found: JournalEntry[] = [];
  for (const { name, kind: stream } of await source.streams()) {
    if (stream !== 'journal') continue;
    for await (const entries of source.entries(name)) {
      for (const { body, enqueuedMs } of entries) {
        const fact = body === null ? null : journalEntryOf({ body, enqueuedMs });
        if (fact?.kind === kind) found.push(fact);
      }
    }
  }
  return found as Extract<JournalEntry, { kind: Kind }>[];
}

/** The same of the trail at a path. */
export async function journalAt<Kind extends JournalEntry['kind']>(path: string, kind: Kind) {
  await using source = openSqliteSource(path);
  return await journalOf(source, kind);
}

/** Appends what four VMs tell of events to a stream of a trail, as a consumer does; the trail is closed with it. */
export function openNoticeWriter(trail: TrailStore) {
  const stream = 'ns.example/fleet/0/20261110T220000000Z';
  let at: StreamPosition = emptyStream;
  return {
    /** @returns the ids of its facts */
    write: async (event: number): Promise<string[]> => {
      const records = migrationNow(event, 4);
      const events = records.map((record, index) => ({
        sequenceNumber: at.size + index,
        enqueuedMs: Date.now(),
        body: encodeRecord(record),
      }));
      const result = await until('an append', async () => {
        const tried = await trail.append(stream, at, events);
        return tried.status === 'appended' && tried;
      });
      at = result.position;
      return [...new Set(records.map(({ id }) => id))];
    },
    [Symbol.asyncDispose]: () => trail[Symbol.asyncDispose](),
  };
}

/** Waits until notices are sent from this consumer. */
export async function noticesFrom({ log }: RunningConsumer): Promise<void> {
  await until('a lead', () => log.lines.some(({ message }) => message === 'notices are sent from here'));
}
