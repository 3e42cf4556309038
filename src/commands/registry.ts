// Every subcommand, one line each; a command's code is loaded only when it runs, so that the agent stays small.
import type { Command } from './command.ts';
import { keepEngineSmall } from './small-engine.ts';

export interface RegisteredCommand {
  readonly name: string;
  /** Repeats the command's own summary, so that `seb --help` loads no command. A test compares them. */
  readonly summary: string;
  load(): Promise<Command>;
}

const line = (name: string, summary: string, load: () => Promise<Command>): RegisteredCommand => ({
  name,
  summary,
  load,
});

export const registry: readonly RegisteredCommand[] = [
  line('agent', "Watches this VM's Scheduled Events and passes every change on to the sinks.", async () => {
    keepEngineSmall();
    return (await import('./agent.ts')).agent;
  }),
  line(
    'consumer',
    'Reads what all agents sent to the hub, and keeps the audit trail of the fleet.',
    async () => (await import('./consumer.ts')).consumer,
  ),
  line(
    'events',
    'Lists the maintenance events in the trail.',
    async () => (await import('./events.ts')).events,
  ),
  line(
    'timeline',
    'Tells the story of one event: its figures, each with how sure it is, and who saw and did what when.',
    async () => (await import('./timeline.ts')).timeline,
  ),
  line(
    'vms',
    'Lists the VMs of the fleet: whether their agents are heard of, and what is under way there.',
    async () => (await import('./vms.ts')).vms,
  ),
  line(
    'check',
    'Validates a configuration file and reaches everything it names.',
    async () => (await import('./check.ts')).check,
  ),
  line(
    'current',
    'Says what the instance metadata service announces for this VM now.',
    async () => (await import('./current.ts')).current,
  ),
  line(
    'discover',
    'Finds the metadata service of a VM outside a virtual network, by DHCP option 245.',
    async () => (await import('./discover.ts')).discover,
  ),
  line(
    'approve',
    'Tells Azure to start an event of this VM now, once you have said yes.',
    async () => (await import('./approve.ts')).approve,
  ),
  line(
    'outbox list',
    'Lists the deliveries that wait, rest or died, oldest first.',
    async () => (await import('./outbox-list.ts')).outboxList,
  ),
  line(
    'outbox show',
    'Prints a record and its deliveries as JSON.',
    async () => (await import('./outbox-show.ts')).outboxShow,
  ),
  line(
    'outbox retry',
    'Tries deliveries again now, dead ones too, and ends the rest of their sinks.',
    async () => (await import('./outbox-retry.ts')).outboxRetry,
  ),
  line(
    'outbox discard',
    'Lets deliveries go that were not made: these records never reach these sinks.',
    async () => (await import('./outbox-discard.ts')).outboxDiscard,
  ),
  line(
    'state prepare',
    'Makes the state directory of an agent that may not make it itself.',
    async () => (await import('./state-prepare.ts')).statePrepare,
  ),
  line(
    'sink test',
    'Sends a test record to one sink of an agent or a consumer, and says what came of it.',
    async () => (await import('./sink-test.ts')).sinkTest,
  ),
  line(
    'audit verify',
    'Says what of the trail is proven, what is not, and whether somebody changed it.',
    async () => (await import('./audit-verify.ts')).auditVerify,
  ),
  line(
    'audit status',
    'Says how the trail stands: streams, seals, anchors, gaps, what was parked, pruned or is held.',
    async () => (await import('./audit-status.ts')).auditStatus,
  ),
  line(
    'audit keygen',
    'Makes a key that signs the trail, and prints the key that checks it.',
    async () => (await import('./audit-keygen.ts')).auditKeygen,
  ),
  line(
    'audit prove',
    'Prints the proof that one record stands in the signed trail.',
    async () => (await import('./audit-prove.ts')).auditProve,
  ),
  line(
    'audit verify-proof',
    'Says whether a record stands in a signed trail, from its proof and a key alone.',
    async () => (await import('./audit-verify-proof.ts')).auditVerifyProof,
  ),
  line(
    'audit export',
    'Writes the trail out: whole, as files that prove themselves, or chosen entries.',
    async () => (await import('./audit-export.ts')).auditExport,
  ),
  line(
    'audit prune',
    'Drops the bodies of old entries and keeps their hashes, unless a legal hold stands.',
    async () => (await import('./audit-prune.ts')).auditPrune,
  ),
  line(
    'audit replay',
    'Reads the hub again and compares it with the trail; appends what the trail lacks at its end.',
    async () => (await import('./audit-replay.ts')).auditReplay,
  ),
  line(
    'config schema',
    'Prints the JSON Schema of a configuration file.',
    async () => (await import('./config-schema.ts')).configSchema,
  ),
  line(
    'config docs',
    'Prints every setting of a configuration file as Markdown.',
    async () => (await import('./config-docs.ts')).configDocs,
  ),
  line(
    'config show',
    'Prints the effective settings of a configuration file, with secrets hidden.',
    async () => (await import('./config-show.ts')).configShow,
  ),
  line(
    'demo',
    'Shows the whole bridge at work on this machine: a small fleet lives through maintenance.',
    async () => (await import('./demo.ts')).demo,
  ),
  line(
    'emulate imds',
    'Stands in for the instance metadata service of VMs, with scripted maintenance events.',
    async () => (await import('./emulate-imds.ts')).emulateImds,
  ),
  line(
    'emulate eventhubs',
    'Stands in for an Event Hubs namespace: AMQP 1.0 for the unmodified Azure SDKs.',
    async () => (await import('./emulate-eventhubs.ts')).emulateEventHubs,
  ),
];
