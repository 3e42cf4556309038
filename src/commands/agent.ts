// `seb agent`: runs the agent on this VM until it is told to stop.
import { runAgent } from '../agent/agent.ts';
import { agentSettings } from '../agent/settings.ts';
import { systemClock } from '../clock.ts';
import { loadConfiguration } from '../config/load.ts';
import { defineCommand } from './command.ts';
import { runLongProgram } from './long-program.ts';
import { chosenFile, fileOption, settingsHelp } from './program.ts';

export const agent = defineCommand({
  name: 'agent',
  summary: "Watches this VM's Scheduled Events and passes every change on to the sinks.",
  options: fileOption('agent'),
  examples: [
    {
      line: 'agent -c agent.yaml',
      shows: 'the agent, until SIGTERM or Ctrl-C; its log goes to standard error',
    },
  ],
  notes: [
    'Running an agent switches Scheduled Events on for the VM. From then on a restart or redeploy that a user asks for waits up to 15 minutes, unless something approves it.',
    'SIGTERM and SIGINT let the attempt in hand finish and end the agent within 10 seconds; SIGHUP reopens the files of file sinks after they were rotated.',
    'Every setting: "seb config docs". What a file comes to: "seb config show -c FILE". Whether it works: "seb check -c FILE".',
  ],
  settings: () => settingsHelp('agent'),
  async run(context) {
    const settings = loadConfiguration(chosenFile(context, 'agent'), agentSettings);
    return await runLongProgram('agent', settings, context, async (log) => {
      if (Object.keys(settings.sinks).length === 0) {
        log.warn({}, 'no sinks are configured: what happens is recorded on this disk and goes nowhere');
      }
      const reopening = context.onHangup === undefined ? {} : { onReopen: context.onHangup };
      return await runAgent(settings, { clock: systemClock, log, signal: context.signal, ...reopening });
    });
  },
});
