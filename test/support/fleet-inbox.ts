// A webhook that takes every notice, and can end the sender just as an answer is on its way or before it is.

import type { FleetEventData } from '../../src/core/fleet-record.ts';
import type { BridgeRecord } from '../../src/core/record.ts';
import { readBody, startHttpServer } from '../../src/emulators/http-server.ts';

export interface FleetInbox extends AsyncDisposable {
  readonly url: string;
  /** Bodies as they came, in order. */
  readonly bodies: readonly string[];
  /** The ids of all that came. */
  readonly ids: ReadonlySet<string>;
  readonly records: readonly BridgeRecord<FleetEventData>[];
  /** Called with how many have come, when one has come whole, before it is answered; true = it is not answered. */
  onRequest: (count: number) => boolean;
}

/** Listens on a free port of this machine. */
export async function startFleetInbox(): Promise<FleetInbox> {
  const bodies: string[] = [];
  const ids = new Set<string>();
  const records: BridgeRecord<FleetEventData>[] = [];
  const server = await startHttpServer(async (request, response) => {
    const body = (await readBody(request, 1024 * 1024))?.toString('utf8') ?? '';
    const record = JSON.parse(body) as BridgeRecord<FleetEventData>;
    bodies.push(body);
    records.push(record);
    ids.add(record.id);
    if (inbox.onRequest(bodies.length)) return;
    response.writeHead(200).end();
  });
  const inbox: FleetInbox = {
    ...{ url: `${server.url}/`, bodies, ids, records, onRequest: () => false },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return inbox;
}
