// Finds sinks that would send the notices into the very hub that the consumer reads.
import type * as z from 'zod';
import { type Secret, SecretUnreadable } from './secret.ts';

/** How settings name a hub: by the host of its namespace, or by a connection string. */
export interface NamedHub {
  readonly fullyQualifiedNamespace?: string | undefined;
  readonly connectionString?: Secret | undefined;
  readonly eventHubName?: string | undefined;
}

/** Sinks by their names; only some name a hub. */
export type NamedSinks = Readonly<Record<string, NamedHub & { readonly type: string }>>;

/** Why such a sink is refused. */
export const ownHubSentence =
  'This is the hub that the consumer reads: it would hear its own notices, and take their sender for one more agent. Send them to another hub';

/** Where a hub is, as far as it can be told. */
type PlaceOf = (hub: NamedHub) => string | null;

/**
 * For a schema: refuses the sinks that can be told without a look at a secret.
 * @param settings `hub` and, where notices are sent, `notify.sinks`
 */
export function refuseOwnHub(
  { hub, notify }: { readonly hub: NamedHub; readonly notify?: { readonly sinks: NamedSinks } | undefined },
  context: z.RefinementCtx,
): void {
  for (const name of sinksAt(hub, notify?.sinks ?? {}, placeByName))
    context.addIssue({
      code: 'custom',
      path: ['notify', 'sinks', name, 'eventHubName'],
      message: ownHubSentence,
    });
}

/**
 * Looks into connection strings as well, and says nothing of what stands in them.
 * @returns the names of the sinks that send to the hub; a secret that cannot be read tells nothing
 */
export const sinksOfOwnHub = (hub: NamedHub, sinks: NamedSinks): readonly string[] =>
  sinksAt(hub, sinks, (named) => placeByName(named) ?? placeBySecret(named));

function sinksAt(hub: NamedHub, sinks: NamedSinks, placeOf: PlaceOf): readonly string[] {
  // No secret is read where no sink could be meant.
  const candidates = Object.entries(sinks).filter(([, { type }]) => type === 'eventhubs');
  if (candidates.length === 0) return [];
  const own = placeOf(hub);
  if (own === null) return [];
  return candidates.filter(([, sink]) => placeOf(sink) === own).map(([name]) => name);
}

const placeByName: PlaceOf = ({ fullyQualifiedNamespace, eventHubName }) =>
  fullyQualifiedNamespace === undefined || eventHubName === undefined
    ? null
    : placeText(fullyQualifiedNamespace, eventHubName);

function placeBySecret({ connectionString, eventHubName }: NamedHub): string | null {
  const parts = connectionString === undefined ? null : partsOf(connectionString);
  const [, host] = /^[a-z]+:\/\/([^/?#]+)/i.exec(parts?.get('endpoint') ?? '') ?? [];
  const name = eventHubName ?? parts?.get('entitypath');
  return host === undefined || name === undefined ? null : placeText(host, name);
}

/** By name in lower case. Null when the secret cannot be read. */
function partsOf(secret: Secret): ReadonlyMap<string, string> | null {
  try {
    const parts = secret.reveal().split(';');
    return new Map(
      parts.map((part) => {
        const [name = '', ...value] = part.split('=');
        return [name.trim().toLowerCase(), value.join('=').trim()];
      }),
    );
  } catch (error) {
    if (error instanceof SecretUnreadable) return null;
    throw error;
  }
}

/** Azure tells neither hosts nor hubs apart by case; a host may end in a dot, and name the port that is meant anyway. */
const placeText = (host: string, hub: string): string =>
  `${host
    .toLowerCase()
    .replace(/:(?:5671|443)$/, '')
    .replace(/\.$/, '')}/${hub.toLowerCase()}`;
