// READ FIRST: an Event Hubs namespace on this machine, and what stands in it.
import type { Duplex } from 'node:stream';
import { type Clock, systemClock } from '../../clock.ts';
import { createAmqpServer } from './amqp.ts';
import { serveConnection } from './connection.ts';
import { createFaults, type Faults } from './faults.ts';
import { type Hub, sameName } from './hub.ts';
import { type HubRequest, openHubSet } from './hub-set.ts';
import { openListener, type TlsIdentity } from './listener.ts';
import type { SharedAccessKey } from './sas.ts';
import type { Counters, Limits, Peer, Service } from './service.ts';
import { type StoredEvent, storedEvent } from './stored-event.ts';
import { createTokens, type PresentedToken } from './tokens.ts';

export interface EventHubsEmulatorOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** One hub "scheduled-events" with 4 partitions by default. */
  readonly hubs?: readonly HubRequest[];
  /** A file that keeps hubs and acknowledged events; without one they end with the emulator. */
  readonly storePath?: string;
  readonly tls?: TlsIdentity;
  /** Also takes AMQP in websockets, on the same port. */
  readonly websockets?: boolean;
  /** The first one stands in the connection string. */
  readonly sharedAccessKeys?: readonly SharedAccessKey[];
  /** Takes every JSON web token that has not expired, so that managed identity can be tested. */
  readonly acceptAnyJwt?: boolean;
  /** Events that a partition keeps; 250,000 by default. */
  readonly retentionEventsMax?: number;
  /** Bytes of events that a partition keeps; 256 MiB by default. */
  readonly retentionBytesMax?: number;
  /** 1 MiB by default, as in the service. */
  readonly messageBytesMax?: number;
  /** After this a connection without a link to an entity is closed; 300,000 by default. */
  readonly connectionIdleMs?: number;
  /** After this a link that publishes nothing is detached; 1,800,000 by default. */
  readonly senderIdleMs?: number;
  /** Dates events, and tells which tokens have expired. */
  readonly clock?: Clock;
  /** For faults with a probability. */
  readonly random?: () => number;
}

export interface EventHubsEmulator extends AsyncDisposable {
  readonly port: number;
  /** Without EntityPath. */
  readonly connectionString: string;
  /** Host and port, for clients that use a token instead of a connection string. */
  readonly fullyQualifiedNamespace: string;
  /** The first hub. */
  readonly eventHubName: string;
  /** The events that a hub (the first one by default) keeps, partition by partition. */
  events(hub?: string): readonly StoredEvent[];
  readonly faults: Faults;
  /** Connections that are open now. */
  readonly connections: number;
  readonly counters: Readonly<Counters>;
  /** The newest 1,000 tokens. */
  readonly tokens: readonly PresentedToken[];
  /** Kills every connection. */
  dropConnections(): void;
}

const DEFAULT_HUB = 'scheduled-events';

/** Public on purpose: it opens nothing but an emulator. */
const defaultKey: SharedAccessKey = { name: 'RootManageSharedAccessKey', key: 'not-a-secret-emulator-key' };

const MIB = 1024 * 1024;

const limitsOf = (options: EventHubsEmulatorOptions): Limits => ({
  messageBytesMax: options.messageBytesMax ?? MIB,
  connectionIdleMs: options.connectionIdleMs ?? 300_000,
  senderIdleMs: options.senderIdleMs ?? 1_800_000,
});

const noCounts = (): Counters => ({
  publishers: 0,
  readers: 0,
  connectionsAccepted: 0,
  transfers: 0,
  eventsStored: 0,
  eventsDelivered: 0,
  managementRequests: 0,
});

function connectionStringTo(endpoint: string, { name, key }: SharedAccessKey, isPlain: boolean): string {
  const common = `Endpoint=sb://${endpoint};SharedAccessKeyName=${name};SharedAccessKey=${key}`;
  return isPlain ? `${common};UseDevelopmentEmulator=true` : common;
}

function eventsOf(hub: Hub | undefined): readonly StoredEvent[] {
  const partitions = hub?.partitions ?? [];
  return partitions.flatMap(({ id, events }) => events.map((event) => storedEvent(id, event)));
}

interface Peers {
  readonly count: number;
  accept(socket: Duplex): void;
  dropAll(): void;
}

function createPeers(service: Service): Peers {
  const createConnection = createAmqpServer();
  const peers = new Set<Peer>();
  return {
    accept(socket) {
      if (service.faults.strike('connect') !== undefined) {
        socket.destroy();
        return;
      }
      const peer = serveConnection(service, createConnection(), socket);
      peers.add(peer);
      peer.gone.addEventListener('abort', () => peers.delete(peer));
    },
    get count() {
      return peers.size;
    },
    dropAll() {
      for (const peer of peers) peer.drop();
    },
  };
}

async function createService(
  options: EventHubsEmulatorOptions,
  owned: AsyncDisposableStack,
): Promise<Service> {
  const clock = options.clock ?? systemClock;
  const { hubs, journal } = await openHubSet({
    requests: options.hubs ?? [{ name: DEFAULT_HUB }],
    storePath: options.storePath,
    retention: {
      eventsMax: options.retentionEventsMax ?? 250_000,
      bytesMax: options.retentionBytesMax ?? 256 * MIB,
    },
    clock,
  });
  owned.use(journal);
  const keys = options.sharedAccessKeys ?? [defaultKey];
  return {
    hubs,
    journal,
    tokens: createTokens({ keys, acceptAnyJwt: options.acceptAnyJwt ?? false, clock }),
    faults: createFaults(options.random ?? Math.random),
    clock,
    limits: limitsOf(options),
    counters: noCounts(),
  };
}

/**
 * Starts an emulator on 127.0.0.1.
 * @throws EmulatorError for options that cannot be and for a damaged store; the system's errors, such as
 *   EADDRINUSE
 */
export async function startEventHubsEmulator(
  options: EventHubsEmulatorOptions = {},
): Promise<EventHubsEmulator> {
  await using starting = new AsyncDisposableStack();
  const service = await createService(options, starting);
  const peers = createPeers(service);
  const { tls, websockets = false } = options;
  const onConnection = peers.accept;
  const listener = starting.use(
    await openListener({ port: options.port ?? 0, tls, websockets, onConnection }),
  );
  const owned = starting.move();
  const eventHubName = options.hubs?.[0]?.name ?? DEFAULT_HUB;
  const key = options.sharedAccessKeys?.[0] ?? defaultKey;
  // TLS knows names only, and the name may mean ::1, where nobody listens: plain TCP takes the address.
  const endpoint = `${tls === undefined ? '127.0.0.1' : 'localhost'}:${listener.port}`;
  return {
    port: listener.port,
    connectionString: connectionStringTo(endpoint, key, tls === undefined),
    fullyQualifiedNamespace: endpoint,
    eventHubName,
    events: (hub = eventHubName) => eventsOf(service.hubs.get(sameName(hub))),
    faults: service.faults,
    get connections() {
      return peers.count;
    },
    counters: service.counters,
    tokens: service.tokens.presented,
    dropConnections: peers.dropAll,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
