// What the notices keep in their outbox beside the queue, and under which keys.

/** Keys of notes; those that end in a stroke are followed by a name. */
export const noteKeys = {
  /** The id of the trail whose places the others are. */
  trail: 'notify/trail',
  /** Entries of a stream that were looked at. */
  cursor: 'notify/cursor/',
  /** What the hub stored before this moment, epoch ms, is told to nobody. */
  since: 'notify/since',
  /** How long the journal was when everything before the position was told. */
  journal: 'notify/journal',
  /** The waves of a chat, and which of them have news. */
  waves: 'notify/waves/',
  /** Which facts a record about a wave told, by sink and id. */
  told: 'notify/told/',
  /** What was last said of each voice of the fleet. */
  voices: 'notify/voices',
} as const;

/** The key of what a record about a wave told to a sink. */
export const toldKey = (sink: string, id: string): string => `${noteKeys.told}${sink}/${id}`;

/** The name of what a sink was told, or is to be told. @param id of a record or of a fact */
export const tellingKey = (sink: string, id: string): string => `${sink} ${id}`;
