// `seb emulate eventhubs`: an Event Hubs namespace on this machine.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { systemClock } from '../clock.ts';
import type { EventHubsEmulator, EventHubsEmulatorOptions } from '../emulators/eventhubs/emulator.ts';
import { EmulatorError } from '../emulators/eventhubs/emulator-error.ts';
import { readFaultSpec, type TimedFault } from '../emulators/eventhubs/fault-spec.ts';
import { type CommandContext, defineCommand, numberOption, textOption, UsageError } from './command.ts';

export const emulateEventHubs = defineCommand({
  name: 'emulate eventhubs',
  summary: 'Stands in for an Event Hubs namespace: AMQP 1.0 for the unmodified Azure SDKs.',
  options: {
    port: {
      type: 'string',
      value: 'PORT',
      description: 'Port on 127.0.0.1; 0, the default, takes a free one.',
    },
    hub: { type: 'string', value: 'NAME', description: 'Name of the hub; default scheduled-events.' },
    partitions: { type: 'string', value: 'N', description: 'Partitions of a new hub; default 4.' },
    'consumer-group': {
      type: 'string',
      multiple: true,
      value: 'NAME',
      description: 'A consumer group besides $Default; may be repeated.',
    },
    store: {
      type: 'string',
      value: 'FILE',
      description: 'Keeps the hub and every acknowledged event there, for one emulator at a time.',
    },
    'tls-key': { type: 'string', value: 'FILE', description: 'Private key (PEM): the port then speaks TLS.' },
    'tls-cert': { type: 'string', value: 'FILE', description: 'Certificate (PEM) for localhost.' },
    websockets: { type: 'boolean', description: 'Takes AMQP in websockets too, on the same port.' },
    'accept-any-jwt': {
      type: 'boolean',
      description: 'Takes every unexpired JSON web token, to try managed identity out.',
    },
    fault: {
      type: 'string',
      multiple: true,
      value: 'SPEC',
      description: 'A fault; may be repeated. See below.',
    },
  },
  examples: [
    { line: 'emulate eventhubs', shows: 'a hub "scheduled-events" with 4 partitions' },
    {
      line: 'emulate eventhubs --port 5672 --partitions 8 --store hub.log',
      shows: 'a hub that is the same after a restart',
    },
    {
      line: 'emulate eventhubs --fault drop-after-store,times=3 --fault server-busy,times=always,probability=0.1',
      shows: 'three lost acknowledgements, and throttling now and then',
    },
    {
      line: 'emulate eventhubs --tls-key key.pem --tls-cert cert.pem --websockets',
      shows: 'TLS and websockets on one port',
    },
  ],
  notes: [
    'Prints one JSON line once it listens: "connectionString", which ends in UseDevelopmentEmulator=true unless TLS is on, and "eventHubName".',
    'SPEC is NAME[,KEY=VALUE]... with these names. While publishing: drop-before-store, drop-after-store, lost-ack, server-busy, too-large, internal-error, detach, slow, idle-close. While receiving: drop-on-receive, detach-on-receive, slow-receive. On questions about the hub: management-silent, drop-on-management. On connecting: unauthorized, refuse-connection. The keys are times (1 unless given; or "always"), probability (0 to 1), delay (1s), hub, partition and after (when it begins).',
    'What it does not do: it is not the service, and nothing here says what Azure will answer tomorrow. No throughput units and no throttling but by fault; no schema registry, capture, Kafka or HTTP; no geo-replication; no idempotent publishing; no retention by time, only by number and size of events; no checking of JSON web tokens; no creating or deleting of hubs while it runs; one namespace. Limits that it keeps: 1 MiB per message, 5 readers without owner level per partition and consumer group, 300 s for a connection without links, 30 min for a link that publishes nothing.',
  ],
  async run(context) {
    const faults = words(context, 'fault').map(faultOf);
    await using emulator = await start(context);
    const { connectionString, eventHubName, faults: script } = emulator;
    context.stdout.write(`${JSON.stringify({ connectionString, eventHubName })}\n`);
    for (const fault of faults) void addLater(fault, script, context.signal);
    if (!context.signal.aborted) await once(context.signal, 'abort');
    return 0;
  },
});

async function start(context: CommandContext): Promise<EventHubsEmulator> {
  const options = await optionsOf(context);
  // Nobody but this command pays for the AMQP library.
  const { startEventHubsEmulator } = await import('../emulators/eventhubs/emulator.ts');
  return startEventHubsEmulator(options).catch((error: unknown) => {
    throw error instanceof EmulatorError ? new UsageError(error.message) : error;
  });
}

async function optionsOf(context: CommandContext): Promise<EventHubsEmulatorOptions> {
  const storePath = textOption(context, 'store');
  const hub = {
    name: textOption(context, 'hub') ?? 'scheduled-events',
    consumerGroups: words(context, 'consumer-group'),
    ...partitionsOf(context),
  };
  const tls = await tlsOf(context);
  return {
    port: numberOption(context, 'port', { fallback: 0, min: 0, max: 65_535 }),
    hubs: [hub],
    websockets: context.options['websockets'] === true,
    acceptAnyJwt: context.options['accept-any-jwt'] === true,
    ...(storePath === undefined ? {} : { storePath }),
    ...(tls === undefined ? {} : { tls }),
  };
}

/** Nothing when it is not said: a stored hub keeps its partitions. */
function partitionsOf(context: CommandContext): { readonly partitions?: number } {
  if (textOption(context, 'partitions') === undefined) return {};
  return { partitions: numberOption(context, 'partitions', { fallback: 4, min: 1, max: 1_024 }) };
}

async function tlsOf(context: CommandContext): Promise<EventHubsEmulatorOptions['tls']> {
  const [key, cert] = [textOption(context, 'tls-key'), textOption(context, 'tls-cert')];
  if (key === undefined && cert === undefined) return undefined;
  if (key === undefined || cert === undefined) throw new UsageError('--tls-key and --tls-cert go together');
  return { key: await readText(key), cert: await readText(cert) };
}

function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} cannot be read: ${error.code}`);
  });
}

function faultOf(spec: string): TimedFault {
  const fault = readFaultSpec(spec);
  if ('problem' in fault) throw new UsageError(`--fault ${spec}: ${fault.problem}`);
  return fault;
}

async function addLater(
  { fault, afterMs }: TimedFault,
  faults: EventHubsEmulator['faults'],
  signal: AbortSignal,
): Promise<void> {
  if (afterMs > 0) await systemClock.sleep(afterMs, signal);
  if (!signal.aborted) faults.add(fault);
}

/** The values of an option that may be repeated. */
function words(context: CommandContext, name: string): readonly string[] {
  const values = context.options[name];
  return Array.isArray(values) ? values.map(String) : [];
}
