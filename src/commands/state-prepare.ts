// `seb state prepare`: makes the agent's state directory for a group, where the agent may not make it itself.
import { chmodSync, chownSync, statSync } from 'node:fs';
import { makeDirectories } from '../directories.ts';
import { defineCommand } from './command.ts';
import { fileOption, loadAgentSettings } from './program.ts';

// Its owner and its group read and write, nobody else; what is made in it belongs to the group as well.
const sharedMode = 0o2770;

export const statePrepare = defineCommand({
  name: 'state prepare',
  summary: 'Makes the state directory of an agent that may not make it itself.',
  options: fileOption('agent'),
  examples: [
    { line: 'state prepare -c agent.yaml', shows: 'makes "stateDir" for the group of whoever calls this' },
  ],
  notes: [
    'For Kubernetes, whose hostPath directories belong to root: an init container runs this as root with the group of the agent, and the agent needs no root then.',
    'The directory keeps its owner, gets the group that calls this, and is closed to everybody else. That takes no capability: an owner may give what is his to a group that he is in.',
    'What is in the directory stays as it is. Do not run it for a packaged service: systemd makes that directory.',
  ],
  async run(context) {
    const { stateDir } = await loadAgentSettings(context);
    const group = process.getegid?.();
    const fault = group === undefined ? 'this system has no groups' : share(stateDir, group);
    if (fault === null) {
      context.stdout.write(`${stateDir} is for group ${group}\n`);
      return 0;
    }
    context.stderr.write(`seb: ${stateDir} (stateDir) cannot be prepared: ${fault}\n`);
    return 1;
  },
});

/** @returns null when done, else what is in the way */
function share(path: string, group: number): string | null {
  try {
    makeDirectories(path, sharedMode);
    chownSync(path, statSync(path).uid, group);
    chmodSync(path, sharedMode);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown error';
  }
}
