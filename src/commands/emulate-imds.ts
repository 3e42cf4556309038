// `seb emulate imds`: Azure's instance metadata service on this machine, with scripted maintenance events.
import { once } from 'node:events';
import { systemClock } from '../clock.ts';
import { type ImdsEmulator, startImdsEmulator } from '../emulators/imds/emulator.ts';
import { readFaultSpec, type TimedFault } from '../emulators/imds/fault-spec.ts';
import { loadScenario, type Scenario, scenarioNames } from '../emulators/imds/scenario.ts';
import { ScenarioError } from '../emulators/imds/scenario-file.ts';
import { scaleSetVms, type VmDescription } from '../emulators/imds/vm.ts';
import { type Log, openLog } from '../log.ts';
import { type CommandContext, defineCommand, numberOption, textOption, UsageError } from './command.ts';
import { outputOptions, printRows } from './table.ts';

export const emulateImds = defineCommand({
  name: 'emulate imds',
  summary: 'Stands in for the instance metadata service of VMs, with scripted maintenance events.',
  options: {
    port: {
      type: 'string',
      value: 'PORT',
      description: 'Port on 127.0.0.1; 0, the default, takes a free one.',
    },
    vms: { type: 'string', value: 'N', description: 'So many VMs of one scale set: WestNO_0, WestNO_1, ...' },
    vm: { type: 'string', multiple: true, value: 'NAME', description: 'A VM of this name; may be repeated.' },
    scenario: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      description:
        'A scenario of the library, a scenario file, or a folder of documents to replay; may be repeated.',
    },
    repeat: { type: 'boolean', description: 'Plays the scenarios again and again.' },
    speed: {
      type: 'string',
      value: 'X',
      description: 'Plays X times faster, the announced notice included.',
    },
    fault: {
      type: 'string',
      multiple: true,
      value: 'SPEC',
      description: 'A fault; may be repeated. See below.',
    },
    rate: {
      type: 'string',
      value: 'N',
      description: 'Requests a second after which a VM gets 429; 5, as in Azure, unless given.',
    },
    list: { type: 'boolean', description: 'Lists the scenarios of the library.' },
    ...outputOptions,
  },
  examples: [
    {
      line: 'emulate imds --scenario live-migration --speed 60',
      shows: 'a live migration within 21 seconds',
    },
    { line: 'emulate imds --vms 3 --port 8169', shows: 'three VMs, each at http://127.0.0.1:8169/vm/NAME' },
    {
      line: 'emulate imds --fault warming --fault 429,retryAfter=5,times=3,after=3m',
      shows: 'a first call of 2 minutes, and later three requests that are told to wait',
    },
    { line: 'emulate imds --list', shows: 'the scenarios that come with the program' },
  ],
  notes: [
    'Prints one JSON line once it listens: "url" acts as the first VM, "vms" has the address of each. Give one of them to an agent as imds.endpoint. /approvals at "url" lists what agents approved, and whether the event was there. What happens is logged on standard error. docs/scenarios.md says how to write a scenario.',
    'SPEC is KIND[,KEY=VALUE]... with the kinds warming (the first call takes delay=2m), slow (delay=5s), empty (200 without a body), a status such as 429 or 503 (retryAfter=SECONDS), hang, mute (does what it is asked to, and never answers), lost (does it, and ends the connection instead), reset, truncated (half the JSON), cut (the connection ends within the body), incarnation-reset and instance-down, and the keys times, for, after, vm and path (scheduledevents, approval, instance, token, all). A fault hits one request unless times or for is given. --speed leaves its times alone.',
    'What it does not do: there is one placement group; attested documents, load balancer metadata and most fields about images, disks and networks are missing; tokens open nothing; the feature is awake from the start and never falls asleep by itself. An approval starts an event at once, and an approval of an event that is not there gets 400: what Azure does then is not documented.',
  ],
  async run(context) {
    if (context.options['list'] === true) return list(context);
    const faults = words(context, 'fault').map(faultOf);
    const log = openLog('emulate-imds', 'info');
    await using emulator = await start(context, log);
    const scenarios = await loadAll(words(context, 'scenario'), emulator);
    announce(context, emulator);
    const play = playAll(scenarios, emulator, context, log);
    await Promise.all([play, ...faults.map((fault) => injectLater(fault, emulator, context.signal))]);
    if (!context.signal.aborted) await once(context.signal, 'abort');
    return 0;
  },
});

async function list(context: CommandContext): Promise<number> {
  const columns = [
    { name: 'name', value: ({ name }: { name: string }) => name },
    { name: 'summary', value: ({ summary }: { summary: string }) => summary, elastic: true },
  ];
  await printRows(context, columns, scenarioNames());
  return 0;
}

function start(context: CommandContext, log: Log): Promise<ImdsEmulator> {
  return startImdsEmulator({
    port: numberOption(context, 'port', { fallback: 0, min: 0, max: 65_535 }),
    vms: fleetOf(context),
    speed: numberOption(context, 'speed', { fallback: 1, min: 0.01, max: 1_000_000 }),
    requestsPerSecondMax: numberOption(context, 'rate', { fallback: 5, min: 1, max: 1_000_000 }),
    log,
  });
}

function fleetOf(context: CommandContext): readonly VmDescription[] {
  const names = words(context, 'vm');
  if (names.length === 0)
    return scaleSetVms(numberOption(context, 'vms', { fallback: 1, min: 1, max: 1000 }));
  if (textOption(context, 'vms') !== undefined) throw new UsageError('give either --vms or --vm, not both');
  if (new Set(names).size < names.length) throw new UsageError('every --vm needs a name of its own');
  return names.map((name) => ({ name }));
}

function faultOf(spec: string): TimedFault {
  const fault = readFaultSpec(spec);
  if ('problem' in fault) throw new UsageError(`--fault ${spec}: ${fault.problem}`);
  return fault;
}

function loadAll(names: readonly string[], { vms }: ImdsEmulator): Promise<readonly Scenario[]> {
  return Promise.all(names.map((name) => loadScenario(name, vms))).catch((error: unknown) => {
    throw error instanceof ScenarioError ? new UsageError(error.message) : error;
  });
}

function announce({ stdout }: CommandContext, { url, vms, endpointOf }: ImdsEmulator): void {
  const addresses = vms.map(({ name }) => ({ name, url: endpointOf(name) }));
  stdout.write(`${JSON.stringify({ url, vms: addresses })}\n`);
}

const repeatPauseMs = 1_000;

async function playAll(
  scenarios: readonly Scenario[],
  emulator: ImdsEmulator,
  { options, signal }: CommandContext,
  log: Log,
): Promise<void> {
  do {
    for (const scenario of scenarios) {
      if (signal.aborted) return;
      log.info({ scenario: scenario.name, summary: scenario.summary }, 'scenario begins');
      await emulator.play(scenario, { signal });
    }
    if (scenarios.length > 0) log.info({}, 'every scenario is over');
    // A scenario may be over at once: a pause keeps its repetition from spinning.
    if (options['repeat'] === true) await systemClock.sleep(repeatPauseMs, signal);
  } while (options['repeat'] === true && scenarios.length > 0 && !signal.aborted);
}

async function injectLater(
  { fault, scope, afterMs }: TimedFault,
  emulator: ImdsEmulator,
  signal: AbortSignal,
): Promise<void> {
  if (afterMs > 0) await systemClock.sleep(afterMs, signal);
  if (!signal.aborted) emulator.inject(fault, scope);
}

/** The values of an option that may be repeated. */
function words(context: CommandContext, name: string): readonly string[] {
  const values = context.options[name];
  return Array.isArray(values) ? values.map(String) : [];
}
