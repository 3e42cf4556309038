// Names the stream that a partition feeds: a hub that was deleted and made anew begins another one.

/** Where events come from. */
export interface StreamOrigin {
  /** The namespace's host name. */
  readonly namespace: string;
  readonly hub: string;
  readonly partition: string;
  /** Epoch ms at which the hub was made: its sequence numbers begin anew with it. */
  readonly hubCreatedAt: number;
}

/**
 * The stream's name, `namespace/hub/partition/epoch`, such as
 * `ns.servicebus.windows.net/scheduled-events/0/20261110T222704118Z`.
 * Azure compares hosts and hub names without case, so the name is in lower case but for the epoch.
 */
export function streamName({ namespace, hub, partition, hubCreatedAt }: StreamOrigin): string {
  const place = [namespace, hub, partition].map((part) => encodeURIComponent(part.toLowerCase()));
  const epoch = new Date(hubCreatedAt).toISOString().replaceAll(/[-:.]/g, '');
  return [...place, epoch].join('/');
}

/** What a stream holds: events of a hub, or what this trail says of itself. */
export type StreamKind = 'hub' | 'journal' | 'seal';

/** The streams of a trail's own facts. @param trail the trail's own id: anew for each trail, and after a copy was put back */
export const localStreams = (trail: string): { readonly journal: string; readonly seal: string } => ({
  journal: `trail/${trail}/journal`,
  seal: `trail/${trail}/seal`,
});

/** What kind of stream a name is of. */
export function streamKind(name: string): StreamKind {
  const local = /^trail\/[^/]+\/(journal|seal)$/.exec(name)?.[1];
  return local === 'journal' || local === 'seal' ? local : 'hub';
}

/** The partition that a hub's stream is of, whatever the epoch; names of other epochs give the same. */
export const partitionOfStream = (name: string): string => name.slice(0, name.lastIndexOf('/'));
