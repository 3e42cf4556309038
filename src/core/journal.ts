// The journal: facts that are not the hub's but this trail's own, such as a gap, a start or a pruning.
import type { HubEvent } from './leaf.ts';
import type { ParkReason } from './read-record.ts';

/** What happened. Streams are named as `streamName` names them; indexes and sequence numbers are inclusive. */
export type JournalFact =
  | { readonly kind: 'consumer-started'; readonly instance: string; readonly version: string }
  | { readonly kind: 'consumer-stopped'; readonly instance: string }
  /** The settings are not the ones of the last start; the hash is over what `seb config show` prints. */
  | { readonly kind: 'configuration-changed'; readonly instance: string; readonly settingsSha256: string }
  /** The keys that sign are not the ones that signed before; as C2SP verifier keys. */
  | { readonly kind: 'keys-changed'; readonly keys: readonly string[] }
  | {
      readonly kind: 'partition-opened';
      readonly instance: string;
      readonly stream: string;
      readonly size: number;
    }
  | {
      readonly kind: 'partition-closed';
      readonly instance: string;
      readonly stream: string;
      readonly size: number;
    }
  /** A stream has its first entry: what the hub held before that number never came here. */
  | { readonly kind: 'stream-began'; readonly stream: string; readonly firstSequenceNumber: number }
  /** The hub was deleted and made anew: `earlier` ended, and `stream` goes on. */
  | { readonly kind: 'epoch-changed'; readonly stream: string; readonly earlier: readonly string[] }
  /** The hub no longer had these events when they were asked for. */
  | { readonly kind: 'gap'; readonly stream: string; readonly from: number; readonly to: number }
  /** Entries that are no records; one fact for each batch that brought some. */
  | {
      readonly kind: 'parked';
      readonly stream: string;
      readonly entries: readonly { readonly index: number; readonly reason: ParkReason }[];
    }
  /** A record whose source and id stand here with other bytes. */
  | {
      readonly kind: 'conflict';
      readonly stream: string;
      readonly index: number;
      readonly source: string;
      readonly id: string;
    }
  /** The bodies of these entries, by index, are gone; `root` (base64) is over the stream's first `size` entries. */
  | {
      readonly kind: 'pruned';
      readonly stream: string;
      readonly from: number;
      readonly to: number;
      readonly size: number;
      readonly root: string;
    }
  /** A legal hold: nothing is pruned until it is released. */
  | { readonly kind: 'held'; readonly hold: string }
  | { readonly kind: 'released'; readonly hold: string }
  /** An anchor took the seal tree's checkpoint of this size. */
  | {
      readonly kind: 'anchored';
      readonly anchor: string;
      readonly size: number;
      readonly reference: string | null;
    }
  | {
      readonly kind: 'anchor-failed';
      readonly anchor: string;
      readonly size: number;
      readonly reason: string;
    }
  /** The wall clock of an instance left the monotonic one by this much. */
  | { readonly kind: 'clock-jumped'; readonly instance: string; readonly byMs: number }
  /** The trail is older than what an anchor holds of it: a copy was put back. Local trees begin anew with this. */
  | {
      readonly kind: 'restored';
      readonly anchor: string;
      readonly earlier: string;
      readonly anchoredSize: number;
      readonly anchoredRoot: string;
    }
  /**
   * Something was appended behind a head that no key which signs now had signed: what it says of its stream, and the
   * note that stood there (null when there was none).
   */
  | {
      readonly kind: 'unvouched';
      readonly stream: string;
      readonly size: number;
      readonly root: string;
      readonly note: string | null;
    }
  /** The hub was read again, and compared with what stands here. */
  | {
      readonly kind: 'replayed';
      readonly stream: string;
      readonly from: number;
      readonly to: number;
      readonly different: number;
    }
  | { readonly kind: 'exported'; readonly entries: number }
  /** The way of one notice to one sink has come to its end: whether the team got it. */
  | {
      readonly kind: 'notified';
      readonly sink: string;
      /** The type and the id of the record that went, or did not go, there. */
      readonly type: string;
      readonly id: string;
      /** The ids of the facts that it told. */
      readonly facts: readonly string[];
      readonly outcome: 'delivered' | 'dead' | 'superseded' | 'discarded';
      /** Why it ended otherwise; null when it was delivered. */
      readonly reason: string | null;
      readonly attempts: number;
      /** RFC 3339 UTC: when it ended, which may be before it could be written down here. */
      readonly settledAt: string;
    }
  /**
   * Every notice about entries before these places has come to its end: where a successor that knows nothing else goes
   * on. What was told of later ones stands here from the journal's index `journal` on.
   */
  | {
      readonly kind: 'notify-position';
      readonly instance: string;
      /** Whose outbox it is. */
      readonly notifier: string;
      /** RFC 3339 UTC: what the hub stored before is told to nobody. */
      readonly since: string;
      readonly journal: number;
      readonly positions: readonly { readonly stream: string; readonly size: number }[];
    };

export type JournalKind = JournalFact['kind'];

/** A fact and when it was written down, by the clock of the machine that did. */
export type JournalEntry = JournalFact & { readonly at: number };

const schema = 'seb.journal.v1';

/** A fact as an entry of its stream: its index is its sequence number, as nobody else counts it. */
export const journalEvent = (fact: JournalFact, index: number, now: number): HubEvent => ({
  sequenceNumber: index,
  enqueuedMs: now,
  body: Buffer.from(JSON.stringify({ schema, ...fact }), 'utf8'),
});

/** The fact in an entry of a journal; null when it is none that this version knows. */
export function journalEntryOf({
  body,
  enqueuedMs,
}: Pick<HubEvent, 'body' | 'enqueuedMs'>): JournalEntry | null {
  try {
    const { schema: said, ...fact } = JSON.parse(Buffer.from(body).toString('utf8'));
    if (said !== schema || typeof fact.kind !== 'string') return null;
    return { ...fact, at: enqueuedMs } as JournalEntry;
  } catch {
    return null;
  }
}
