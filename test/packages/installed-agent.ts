// Runs the agent that is installed on a private machine, against an emulated metadata service and no receiver.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, node, type PrivateMachine } from './private-machine.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** A configuration whose deliveries all wait; starts the metadata service that it names. */
export async function unheardConfiguration(machine: PrivateMachine): Promise<string> {
  const emulate = [node, join(project, 'src/cli.ts'), 'emulate', 'imds', '--port', '0'];
  const { url } = JSON.parse(await machine.start(emulate)) as { url: string };
  return `# agent.yaml
imds: { endpoint: "${url}" }
sinks: { hook: { type: webhook, url: "https://127.0.0.1:9/", allowHttp: true, filter: { records: [agent] } } }
status: { listen: "127.0.0.1:9464" }
`;
}

/** What the agent logs when a delivery was tried in vain: by then it is in the outbox. */
export const waits = 'the sink does not take records now';

/**
 * Runs it until it logs `text`, then `meanwhile`, and stops it as systemd does.
 * @param command of the agent, for another user than root
 * @returns what `meanwhile` printed, and the agent's log
 */
export function runAgentUntil(
  machine: PrivateMachine,
  text: string,
  meanwhile = '',
  command = 'seb agent',
): Promise<Ended> {
  return machine.run(`${command} 2> /run/agent.log & agent=$!
    grep -q -m 1 '${text}' < <(exec 2>/dev/null; timeout 60 tail -n +1 --pid=$agent -s 0.1 -F /run/agent.log)
    ${meanwhile}
    kill -TERM $agent; wait $agent; cat /run/agent.log >&2`);
}

/** How many deliveries wait in the outbox. */
export const waiting = async ({ run }: PrivateMachine): Promise<number> =>
  Number((await run('seb outbox list -o tsv | grep -c pending')).stdout);
