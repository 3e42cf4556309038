// What a record says to a person, in plain words and in the order in which it is needed; chat sinks give it a form.

/** How things stand. `test` is a trial that a person asked for; `other` a record that is not about an event. */
export type NoticeState = 'scheduled' | 'updated' | 'started' | 'completed' | 'canceled' | 'test' | 'other';

/** What the colour says; the words say it too. */
export type NoticeTone = 'announced' | 'alarming' | 'ongoing' | 'good' | 'quiet';

/** One line under the headline. All texts are plain and unescaped, and may come from outside. */
export interface NoticeFact {
  /** Such as `Not before` or `Started by`. */
  readonly title: string;
  /** Times in UTC, such as `2026-11-10 22:26:58 UTC`. */
  readonly value: string;
  /** Epoch ms, for a fact that is a time: a chat can show it in each reader's own zone. */
  readonly at?: number;
  /** Where the fact's value leads, such as the VM in the portal. */
  readonly link?: string;
}

/** A message, before it is given the form of one chat. Every text is plain and unescaped. */
export interface Notice {
  readonly state: NoticeState;
  readonly tone: NoticeTone;
  /** State first; stands alone, as on a phone. */
  readonly headline: string;
  /** State and VM only, for a title. */
  readonly title: string;
  readonly facts: readonly NoticeFact[];
  /** Azure's own words; null when there are none. May be long. */
  readonly description: string | null;
  /** What is inferred, how it was approved, how long it took: sentences to read last. */
  readonly remarks: readonly string[];
  /** The VM in the Azure portal; null while its resource id is not known. */
  readonly portalUrl: string | null;
  /** Null for a record that is not about an event. */
  readonly eventId: string | null;
}
