// Looks at what came of a fleet's notices: which messages of a chat were said twice, and whether a death explains it.
import type { SlackApi, SlackPost } from './slack-api.ts';

interface Payload {
  readonly correlationid: string;
}

const waveIn = (metadata: unknown): string =>
  (metadata as { readonly event_payload: Payload }).event_payload.correlationid;

/** The wave that a message is about. */
export const waveOf = ({ metadata }: SlackPost): string => waveIn(metadata);

/** Messages that are no replies, in order. */
export const rootsIn = ({ posts }: SlackApi): readonly SlackPost[] =>
  posts.filter(({ threadTs }) => threadTs === null);

/** The last message of each wave. */
export const lastRoots = (api: SlackApi): readonly SlackPost[] => [
  ...new Map(rootsIn(api).map((post) => [waveOf(post), post])).values(),
];

/**
 * Waves that got a second message although their sender did not die with the first one in hand.
 * @param deaths how many calls had come each time it died
 * @param sinkOf which sink tells of a wave: each makes one call after another
 */
export function needlessRoots(
  { calls }: SlackApi,
  deaths: readonly number[],
  sinkOf: (wave: string) => string,
): string[] {
  const told = calls.map(({ method, body }, at) => {
    const wave = waveIn(body['metadata']);
    return { at, wave, sink: sinkOf(wave), isRoot: method === 'chat.postMessage' && !('thread_ts' in body) };
  });
  return told
    .filter(({ isRoot }) => isRoot)
    .filter(({ at, wave, sink }) => {
      const before = told.findLast((each) => each.at < at && each.wave === wave && each.isRoot);
      if (before === undefined) return false;
      const next = told.find((each) => each.at > before.at && each.sink === sink)?.at ?? at;
      return !deaths.some((death) => death > before.at && death <= next);
    })
    .map(({ wave }) => wave);
}
