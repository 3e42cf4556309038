// What a bot remembers of the message it posted for an event, so that later phases update it and nothing is said twice.
import type { BridgeRecord } from '../../core/record.ts';
import type { SinkMemory } from '../sink.ts';

/** The message of one event. Every step that succeeded is in it, and none that did not. */
export interface SlackThread {
  /** The channel as the settings named it: under another name, the event begins anew. */
  readonly asked: string;
  /** The id that Slack gave the channel. */
  readonly channel: string;
  /** Slack's name for the message, unique within the channel. */
  readonly ts: string;
  /** The record that the message shows. */
  readonly shown: Shown;
  /** Ids of the records that were said, and news of waves, by the message itself or by a reply; the latest last. */
  readonly said: readonly string[];
}

export type Shown = Pick<BridgeRecord, 'id' | 'source' | 'sequence' | 'time'>;

export interface SlackThreads {
  /** Null when nothing is known of a message, or it was posted to a channel of other settings. */
  recall(correlationId: string): SlackThread | null;
  /** Durable when it returns. */
  remember(correlationId: string, thread: SlackThread): SlackThread;
}

// An event has a handful of phases; one that is updated without end must not fill the disk.
const saidMax = 30;

/** @param asked the channel as the settings name it */
export const openSlackThreads = (memory: SinkMemory, asked: string): SlackThreads => ({
  recall: (correlationId) => {
    const thread = read(memory.get(keyOf(correlationId)));
    return thread?.asked === asked ? thread : null;
  },
  remember: (correlationId, thread) => {
    const kept = { ...thread, said: thread.said.slice(-saidMax) };
    memory.set(keyOf(correlationId), JSON.stringify(kept));
    return kept;
  },
});

const keyOf = (correlationId: string): string => `thread ${correlationId}`;

/** A note that another version wrote in another form is none. */
function read(text: string | null): SlackThread | null {
  if (text === null) return null;
  try {
    const note = JSON.parse(text) as Partial<SlackThread> | null;
    const whole =
      [note?.asked, note?.channel, note?.ts, note?.shown?.id].every((value) => typeof value === 'string') &&
      Array.isArray(note?.said);
    return whole ? (note as SlackThread) : null;
  } catch {
    return null;
  }
}

export const shownOf = ({ id, source, sequence, time }: BridgeRecord): Shown => ({
  id,
  source,
  sequence,
  time,
});

/** Whether a record tells of a later moment: by the number its agent gave it; between two agents, by their clocks. */
export function isNewer(record: Shown, shown: Shown): boolean {
  if (record.id === shown.id) return false;
  return record.source === shown.source ? record.sequence > shown.sequence : record.time >= shown.time;
}
