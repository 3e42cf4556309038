// `seb demo`: the whole bridge on this machine, from a maintenance event to its place in the trail.
import { type CommandContext, defineCommand, numberOption, textOption, UsageError } from './command.ts';

export const demo = defineCommand({
  name: 'demo',
  summary: 'Shows the whole bridge at work on this machine: a small fleet lives through maintenance.',
  options: {
    vms: { type: 'string', value: 'N', description: 'VMs in the fleet, each with an agent; 3 unless given.' },
    scenario: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      description:
        'A scenario of the library, a scenario file, or a folder of documents to replay; may be repeated.',
    },
    speed: {
      type: 'string',
      value: 'X',
      description: 'How many times faster the scenarios run; by default 100, or what long ones need.',
    },
  },
  examples: [
    {
      line: 'demo',
      shows: 'three VMs: a live migration, maintenance that is called off, and a redeploy that is approved',
    },
    { line: 'demo --vms 100 --scenario fault-domains', shows: 'a hundred VMs, rebooted back to back' },
    { line: 'demo --scenario spot-preempt --speed 10', shows: 'two evictions at a tenth of their length' },
  ],
  notes: [
    'Everything that is shown was counted where it happened: in the document of the IMDS emulator, in the outbox of each agent, in the Event Hubs emulator, at a webhook receiver, and in the trail. The agents and the consumer are the real ones.',
    'It needs no Azure and no network, listens on 127.0.0.1 only, keeps everything in a temporary directory, and leaves nothing behind. It exits with 1 when a record is missing or came twice.',
  ],
  async run(context) {
    const startedAt = performance.now();
    const vmCount = numberOption(context, 'vms', { fallback: 3, min: 1, max: 500 });
    if (!Number.isInteger(vmCount)) throw new UsageError('--vms takes a whole number');
    context.stdout.write(`${introduction(vmCount)}\n\n`);
    // What follows takes a while to load: the first line should not wait for it.
    const { planDemo } = await import('./demo/plan.ts');
    const plan = await planDemo({ vmCount, startedAt, ...wishesIn(context) });
    const { playDemo } = await import('./demo/play.ts');
    const exitCode = await playDemo(plan, context);
    const { farewell } = await import('./demo/farewell.ts');
    context.stdout.write(
      context.signal.aborted ? '\nInterrupted: all of it is stopped and removed.\n' : farewell(),
    );
    return exitCode;
  },
});

function introduction(vmCount: number): string {
  const vms = vmCount === 1 ? 'one VM' : `${vmCount} VMs`;
  return `Scheduled Events Bridge: ${vms} on an emulated Azure, the real agents and consumer, all on this machine.`;
}

function wishesIn(context: CommandContext) {
  const names = context.options['scenario'];
  const speed = numberOption(context, 'speed', { fallback: 100, min: 1, max: 100_000 });
  return {
    ...(Array.isArray(names) ? { scenarioNames: names.map(String) } : {}),
    ...(textOption(context, 'speed') === undefined ? {} : { speed }),
  };
}
