// Whether root may look into the outbox of the agent, which is another user, without shutting the agent out of it.
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { unheardConfiguration, waits } from './installed-agent.ts';
import { openPrivateMachine } from './private-machine.ts';
import { built } from './support/built.ts';

const state = '/var/lib/scheduled-events-bridge';
const user = 61184;

/** Runs the agent as a user of its own until a delivery waits, then `meanwhile` as root, and stops it. */
const agentThen = (meanwhile: string): string => `
  setpriv --reuid=${user} --regid=${user} --clear-groups sh -c 'umask 077; exec seb agent' 2>/run/agent.log & agent=$!
  grep -q -m 1 '${waits}' < <(exec 2>/dev/null; timeout 60 tail -n +1 --pid=$agent -s 0.1 -F /run/agent.log)
  ${meanwhile}
  kill -TERM $agent; wait $agent`;

it('leaves every file to the agent, whether it runs or not, and the agent goes on', async () => {
  using directory = temporaryDirectory();
  const program = join(directory.path, 'seb');
  copyFileSync(await built('executable'), program);
  chmodSync(program, 0o755);
  await using machine = await openPrivateMachine(directory.path);
  await machine.run(`cp ${program} /usr/bin/seb; mkdir -p /etc/scheduled-events-bridge
    install -d -m 0700 -o ${user} -g ${user} ${state}`);
  const configuration = await unheardConfiguration(machine);
  await machine.run('cat > /etc/scheduled-events-bridge/agent.yaml', configuration);
  const asRoot =
    'seb outbox list -o tsv | cut -f 2; seb outbox retry --sink hook >/dev/null; seb check | cut -f 1';
  const first = await machine.run(`${agentThen(asRoot)} && { ${asRoot}; }`);
  const seen = 'hook\nfile\nstateDir\nstatus\nimds\nsink hook\n';
  expect(first).toEqual({ exitCode: 0, stdout: seen.repeat(2), stderr: '' });
  const files = (await machine.run(`stat -c '%u:%g %n' ${state}/*`)).stdout.trim().split('\n');
  expect(files.length).toBeGreaterThan(2);
  expect(files.filter((line) => !line.startsWith(`${user}:${user} `))).toEqual([]);
  expect(await machine.run(agentThen(''))).toEqual({ exitCode: 0, stdout: '', stderr: '' });
});
