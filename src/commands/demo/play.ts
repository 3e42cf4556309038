// READ FIRST: the demo in order. Emulators, consumer and agents start, scenarios play, everything is told and counted.
import { once } from 'node:events';
import { join } from 'node:path';
import { type EventHubsEmulator, startEventHubsEmulator } from '../../emulators/eventhubs/emulator.ts';
import { type ImdsEmulator, startImdsEmulator } from '../../emulators/imds/emulator.ts';
import type { CommandContext } from '../command.ts';
import { viewArrivals } from './arrival-view.ts';
import { makeDirectory } from './directory.ts';
import { startFleet } from './fleet.ts';
import { startKeeper } from './keeper.ts';
import { type Line, linePrinter, note } from './line.ts';
import type { DemoPlan } from './plan.ts';
import { makeProofPlaces, proveTrail } from './proof.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { viewSource } from './source-view.ts';
import { tellStory } from './story.ts';
import { viewTrail } from './trail-view.ts';

/**
 * Runs the demo to its end, or until it is interrupted; nothing of it is left behind.
 * @returns the exit code: 1 when something was lost or broke
 */
export async function playDemo(plan: DemoPlan, context: CommandContext): Promise<number> {
  const { signal, stderr } = context;
  if (signal.aborted) return 0;
  const print = linePrinter(context.stdout, plan.startedAt);
  await using resources = new AsyncDisposableStack();
  const { path: directory } = resources.use(makeDirectory());
  const imds = resources.use(await startImdsEmulator({ vms: plan.vms, speed: plan.speed }));
  const hub = resources.use(await startEventHubsEmulator());
  const receiver = resources.use(await startReceiver());
  const { connectionString, eventHubName } = hub;
  for (const line of openingNotes({ imds, hub, receiver })) print(line);
  const trailPath = join(directory, 'trail.db');
  const proof = makeProofPlaces(directory);
  const keeper = resources.use(
    startKeeper({ connectionString, eventHubName, trailPath, proof }, (trouble) =>
      print({ place: 'trail', what: trouble, event: '', detail: '', alarming: true }),
    ),
  );
  const source = viewSource(imds);
  const names = plan.vms.map(({ name }) => name);
  const known = { endpointOf: imds.endpointOf, isKnown: isKnownIn(imds) };
  const places = { directory, ...known, connectionString, eventHubName, webhookUrl: receiver.url };
  const fleet = resources.use(startFleet(names, places, source.hear));

  const broken = Promise.race([fleet.failed, keeper.failed]);
  const started = Promise.all([keeper.reading, fleet.ready]);
  const ready = await Promise.race([started, broken, interrupted(signal)]);
  if (ready === 'interrupted') return 0;
  if (typeof ready === 'string') return complain(ready, stderr);
  const trail = resources.use(viewTrail(trailPath, names.length, source.labelOf));
  const arrivals = viewArrivals(hub, receiver, source.labelOf);
  const end = await Promise.race([
    tellStory({ plan, context, imds, receiver, source, arrivals, trail, print }),
    broken,
  ]);
  if (typeof end === 'string') return complain(end, stderr);
  if (signal.aborted) return 0;
  // What the consumer does last is to seal its trail.
  await keeper[Symbol.asyncDispose]();
  return (await proveTrail(trailPath, proof, context)) ? end : 1;
}

interface Stage {
  readonly imds: ImdsEmulator;
  readonly hub: EventHubsEmulator;
  readonly receiver: Receiver;
}

const openingNotes = ({ imds, hub, receiver }: Stage): Line[] => [
  note('instance metadata', imds.url),
  note('event hub', `${hub.eventHubName} at ${hub.fullyQualifiedNamespace}`),
  note('webhook', receiver.url),
  note('approval', `${imds.vms[0]?.name} approves what users ask for, after its prepare hook`),
];

/** Whether a VM's agent has learned where it runs. */
const isKnownIn =
  ({ requests }: ImdsEmulator) =>
  (vmName: string): boolean =>
    requests.some(({ vm, path, status }) => vm === vmName && status === 200 && isInstance(path));

const isInstance = (path: string): boolean => path.startsWith('/metadata/instance');

function complain(reason: string, stderr: CommandContext['stderr']): number {
  stderr.write(`seb: ${reason}\n`);
  return 1;
}

async function interrupted(signal: AbortSignal): Promise<'interrupted'> {
  if (!signal.aborted) await once(signal, 'abort');
  return 'interrupted';
}
