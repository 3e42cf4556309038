// `seb agent`: runs the agent on this VM until it is told to stop.
import { defineCommand } from './command.ts';
import { chosenFile, fileOption, settingsHelp } from './program.ts';
import { runThroughReloads } from './reload.ts';

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
    'SIGTERM and SIGINT let the attempt in hand finish and end the agent within 10 seconds; events are watched until then.',
    'SIGHUP reads the configuration file anew. A changed one is taken up without a gap in watching; one with a fault is refused in the log, and the agent goes on with the one before; with an unchanged one the files of file sinks are opened anew, as after a rotation, and suspended sinks try again.',
    'A secret given as { file: PATH } is read at every use: a new one needs no restart, and a sink that was suspended for the old one tries again within seconds.',
    'As a service of systemd (Type=notify) it says when it is ready, how it stands, and to the watchdog only while its watch goes on.',
    'With the setting "status" the agent answers /healthz, /readyz and /metrics on 127.0.0.1:9464. Without it, nothing listens.',
    'Every setting: "seb config docs". What a file comes to: "seb config show -c FILE". Whether it works: "seb check -c FILE".',
  ],
  settings: () => settingsHelp('agent'),
  run: (context) => runThroughReloads(chosenFile(context, 'agent'), context),
});
